"""Speeds: arithmetic, without a database.

The current speed of a worker is the work of its recent results, divided by the time in which they arrived.  This
time is the shortest of several windows in which enough results of all present workers arrived, and starts no
earlier than the worker itself: a farm that was idle overnight is not slow, nor is a worker that has just come.
The current speed of a campaign is the sum of these; workers that ended have none.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

WINDOWS_SECONDS = (10.0, 60.0, 300.0, 900.0, 3600.0, 4 * 3600.0, 24 * 3600.0)
ENOUGH = 30
"""Number of results from which a speed is known to about 20 %."""
MIN_RESULTS, MIN_PEERS = 5, 3
"""Minimum numbers of a worker's results, and of workers with such a device, for a comparison."""

K = TypeVar("K", bound=Hashable)


class Arrival(NamedTuple):
    worker: str
    at: float
    work: float  # estimated work of its task
    seconds: float | None = None  # its computing time; None: it is a further result of its task


class RunningAttempt(NamedTuple):
    task: int
    worker: str
    work: float  # estimated work of its task
    again: bool  # whether its task is done, and is being evaluated again
    granted: float
    renewed: float  # when it was granted, or renewed last
    computed: float  # for how many seconds, as its worker said then; 0: it had not begun, or that is unknown
    seconds: float  # time from a renewal of its lease to the deadline


def arrivals_of_late(
    now: float, since: float, arrivals: Callable[[float], Sequence[Arrival]], enough: int = ENOUGH
) -> tuple[float, list[Arrival]]:
    """(length of the window in seconds, the results that arrived in it).

    Args:
        now: end of the window.
        since: earliest start of the window: when the first of the present workers started.
    """
    longest = max(1.0, now - since)
    for window in WINDOWS_SECONDS:
        seconds = min(window, longest)
        arrived = [arrival for arrival in arrivals(now - seconds) if now - seconds < arrival.at]
        if len(arrived) >= enough or seconds < window or window == WINDOWS_SECONDS[-1]:
            break
    return seconds, arrived


@dataclass(frozen=True)
class CurrentSpeeds:
    seconds: float  # length of the window
    of_workers: Mapping[str, float]  # work per second of each present worker of which results arrived
    tasks_per_minute: float

    @property
    def together(self) -> float:
        return sum(self.of_workers.values())


def current(
    now: float, present: Mapping[str, float], arrivals: Callable[[float], Sequence[Arrival]]
) -> CurrentSpeeds | None:
    """None: no result of a present worker arrived.

    Args:
        present: when each present worker started.
        arrivals: the results of all workers that arrived since a time.
    """
    if not present:
        return None

    def of_present(since: float) -> list[Arrival]:
        return [arrival for arrival in arrivals(since) if arrival.worker in present]

    seconds, arrived = arrivals_of_late(now, min(present.values()), of_present)
    if not arrived:
        return None
    work: dict[str, float] = defaultdict(float)
    tasks: dict[str, int] = defaultdict(int)
    for arrival in arrived:
        work[arrival.worker] += arrival.work
        tasks[arrival.worker] += 1
    here = {worker: min(seconds, max(1.0, now - present[worker])) for worker in tasks}
    return CurrentSpeeds(
        seconds,
        {worker: work[worker] / here[worker] for worker in tasks},
        sum(60 * number / here[worker] for worker, number in tasks.items()),
    )


def against_peers(paces: Mapping[str, float], groups: Mapping[str, K]) -> dict[str, float]:
    """The speed of each worker relative to the median of its peers, other workers with such a device.

    ``paces``: work per second of computing time, by worker.
    """
    members: dict[K, list[str]] = {}
    for worker in paces:
        members.setdefault(groups[worker], []).append(worker)
    ratios = {}
    for workers in members.values():
        if len(workers) < MIN_PEERS:
            continue
        for worker in workers:
            others = statistics.median(paces[peer] for peer in workers if peer != worker)
            if others:
                ratios[worker] = paces[worker] / others
    return ratios
