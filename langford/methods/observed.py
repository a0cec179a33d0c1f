"""What results show of the time of other tasks: without claims of their workers that cannot be true of others."""

from __future__ import annotations

from collections.abc import Iterable
from math import frexp
from typing import Any, TypeVar

OUTLIER = 10.0
"""A result that claims this multiple of the usual time is no evidence about other tasks."""
Done = TypeVar("Done", bound=tuple[Any, ...])


def size_of(work: float) -> int:
    """Tasks of one size differ in their work by less than a factor of 2."""
    return frexp(work)[1]


def credible(tasks: Iterable[Done]) -> list[Done]:
    """Tasks that were done, as (work, seconds, ...), without those that claim far more time than others.

    The others are those of at most their size: a task of more work takes no more time for each unit.
    """
    of_size: dict[int, list[Done]] = {}
    for task in tasks:
        of_size.setdefault(size_of(task[0]), []).append(task)
    kept, rates = list[Done](), list[float]()
    for size in sorted(of_size):
        rates = sorted([*rates, *(task[1] / task[0] for task in of_size[size])])
        most = OUTLIER * rates[(len(rates) - 1) // 2]
        kept += [task for task in of_size[size] if task[1] <= most * task[0]]
    return kept
