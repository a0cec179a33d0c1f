"""The available memory, and the refusal of work that needs more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from langford.irregular.errors import TooLarge
from langford.machine.cores import control_groups


def present_bytes(root: Path = Path("/")) -> int:
    """Memory that this process can still get from its machine, and from the control groups that it is in, in bytes.

    ``root``: where Linux has /proc and /sys.
    """
    meminfo = root / "proc/meminfo"
    available = _entry(meminfo, "MemAvailable:") if meminfo.exists() else None
    if available is None:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(0, min([available * 1024, *_left_in_groups(root)]))


def require_memory(what: str, needed: int, present: int) -> None:
    """Raises TooLarge when ``needed`` bytes are more than are present."""
    if needed > present:
        raise TooLarge(
            f"{what} needs {needed:,} bytes of memory, but only {present:,} are free: choose a smaller one, or "
            "another machine"
        )


def _left_in_groups(root: Path) -> Iterator[int]:
    """What is left in each control group that has a limit, in bytes."""
    for folder, unified in control_groups("memory", root):
        limit, usage, cache = "memory.max", "memory.current", "inactive_file"
        if not unified:
            limit, usage, cache = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
        # A group without a limit says "max".
        with suppress(OSError, ValueError):
            most, taken = (int((folder / name).read_text()) for name in (limit, usage))
            yield most - taken + (_entry(folder / "memory.stat", cache) or 0)


def _entry(file: Path, name: str) -> int | None:
    """The number after a name, in a file of such lines."""
    for line in file.read_text().splitlines():
        words = line.split()
        if words[:1] == [name]:
            return int(words[1])
    return None
