"""How many cores of the processor this process may use, and the control groups of Linux, which set limits.

Batch systems and containers put processes into control groups.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path


def cores(environment: Mapping[str, str] = os.environ, root: Path = Path("/")) -> int:
    """The smallest of what the processor has, the affinity, the quota of each control group, and SLURM allow.

    A quota of 2.5 cores counts as 2: a third worker would have all three wait for one another.
    """
    return max(1, min(_limits(environment, root)))


def _limits(environment: Mapping[str, str], root: Path) -> Iterator[int]:
    yield len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    allocated = environment.get("SLURM_CPUS_PER_TASK", "")
    if allocated.isascii() and allocated.isdecimal():
        yield int(allocated)
    for folder, unified in control_groups("cpu", root):
        # A group without a quota says "max" or -1.
        with suppress(OSError, ValueError, ZeroDivisionError):
            if unified:
                quota, period = map(int, (folder / "cpu.max").read_text().split())
            else:
                quota, period = (int((folder / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
            if quota > 0:
                yield quota // period


def control_groups(controller: str, root: Path = Path("/")) -> Iterator[tuple[Path, bool]]:
    """The groups of this process that a controller may limit, each before the one that it is part of.

    Of each its folder, and whether that belongs to the hierarchy of version 2, whose files have other names.  A
    folder need not exist: those of the machine are hidden from a container.

    Args:
        controller: "memory" or "cpu".
        root: where Linux has /proc and /sys.
    """
    own = root / "proc/self/cgroup"
    for line in own.read_text().splitlines() if own.exists() else []:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        top = root / "sys/fs/cgroup" / (controller if controllers else "")
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):
            yield folder, not controllers
            if folder == top:
                break
