"""The order of the tests: each process begins with files that wait for others, and computes afterwards."""

from __future__ import annotations

from itertools import chain, groupby
from typing import TypeVar

LONGEST = [
    f"tests/{name}.py"
    for name in (
        "cluster/test_slurm_cluster",
        "system/test_soak",
        "farm/test_hanging_workers",
        "farm/test_words",
        "cli/test_command_line",
        "farm/test_farm",
        "system/test_surroundings",
        "farm/test_dashboard",
        "cli/test_table",
        "ledger/test_lost_connections",
        "system/test_interruptions",
    )
]
"""The files that take longest, most of them by waiting."""
WAITING = ("tests/cluster/", "tests/system/", "tests/farm/", "tests/cli/")
"""Folders whose tests wait for other processes more than they compute."""
T = TypeVar("T")


def in_turn(tests: list[tuple[str, T]], processes: int) -> list[T]:
    """The tests as the processes get them: the first one the first part of the list, all parts equally long.

    Files that wait are dealt to the processes one after the other, the longest first; then each gets as many of the
    tests that compute as it lacks.  So none is left alone with a long wait at the end.

    Args:
        tests: (file, test) of each, one file after the other.
        processes: number of processes that run them.
    """
    files = sorted(
        ((file, [test for _, test in listed]) for file, listed in groupby(tests, key=lambda each: each[0])),
        key=lambda each: _turn(each[0]),
    )
    waiting = [listed for file, listed in files if _turn(file) < _COMPUTING]
    computing = [test for file, listed in files if _turn(file) == _COMPUTING for test in listed]
    parts: list[list[T]] = [list(chain(*waiting[number::processes])) for number in range(processes)]
    left = len(tests)
    for number, part in enumerate(parts):
        size = left // (processes - number)
        lacking = max(0, size - len(part))
        part += computing[:lacking]
        del computing[:lacking]
        left -= len(part)
    return list(chain(*parts, computing))


_COMPUTING = len(LONGEST) + 1


def _turn(file: str) -> int:
    if file in LONGEST:
        return LONGEST.index(file)
    return len(LONGEST) + (not file.startswith(WAITING))
