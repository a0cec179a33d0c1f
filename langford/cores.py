"""How many cores of the processor this process may use."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from langford.control_groups import control_groups


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
    for group in control_groups("cpu", root):
        # A group without a quota says "max" or -1.
        with suppress(OSError, ValueError, ZeroDivisionError):
            if group.unified:
                quota, period = map(int, (group.folder / "cpu.max").read_text().split())
            else:
                quota, period = (
                    int((group.folder / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period")
                )
            if quota > 0:
                yield quota // period
