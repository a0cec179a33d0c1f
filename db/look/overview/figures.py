"""How fast, and until when: arithmetic on what a ledger knows, without a database.

The speed now is the work of the results that arrived of late, by the time in which they arrived.  "Of late" is the
shortest of some windows in which enough results arrived, and no longer than the workers of today are there: a farm
that stood still over night is not slow.  The time that remains is the remaining work by this speed, and at least
what the task that will end last still takes.  Its spread is that of the speed: the window is cut into parts, and
their variation says how well their mean is known.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeVar

from db.files.messages import Time
from db.look.overview.records import Eta

WINDOWS = (10.0, 60.0, 300.0, 900.0, 3600.0, 4 * 3600.0, 24 * 3600.0)
"""In seconds."""
ENOUGH = 30
"""Results, from which on a speed is known to about a fifth."""
PARTS = 10
"""Of a window, whose variation is the spread of the speed."""
NINE_OF_TEN = 1.645
"""Standard deviations: nine of ten values of a normal distribution are not further from its mean."""
LARGEST_ERROR = 0.9
"""Of a speed, as a share of it."""
FEWEST_RESULTS, FEWEST_PEERS = 5, 3
"""Of which a worker is compared with others: its results, and workers with such a device."""

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Arrival:
    """A result that arrived.

    Attributes:
        worker: whose it is.
        at: when.
        work: of its task.
    """

    worker: str
    at: float
    work: float


@dataclass(frozen=True)
class Pace:
    """The speed of a campaign or of one worker of late.

    Attributes:
        seconds: length of the window.
        work: work per second.
        results: results per second.
        error: standard error of ``work``, as a share of it.
    """

    seconds: float
    work: float
    results: float
    error: float


def arrivals_of_late(
    now: float, since: float, arrivals: Callable[[float], Sequence[Arrival]]
) -> tuple[float, list[Arrival]]:
    """(length of the window in seconds, the results that arrived in it).

    Args:
        now: the end of the window.
        since: the earliest beginning that it may have: since then the workers of today are there.
        arrivals: the results that arrived after a time.
    """
    longest = max(1.0, now - since)
    for window in WINDOWS:
        seconds = min(window, longest)
        arrived = [arrival for arrival in arrivals(now - seconds) if now - seconds < arrival.at]
        if len(arrived) >= ENOUGH or seconds < window or window == WINDOWS[-1]:
            break
    return seconds, arrived


def pace_of(now: float, seconds: float, arrived: Sequence[Arrival]) -> Pace | None:
    """The speed in a window that ends now; None when nothing arrived."""
    if not arrived:
        return None
    parts = [0.0] * PARTS
    for arrival in arrived:
        part = int((arrival.at - (now - seconds)) / seconds * PARTS)
        parts[min(max(part, 0), PARTS - 1)] += arrival.work
    mean = sum(parts) / PARTS
    error = statistics.stdev(parts) / sqrt(PARTS) / mean if mean else 0.0
    return Pace(seconds, sum(parts) / seconds, len(arrived) / seconds, error)


def eta_of(now: float, remaining: float, longest: float, pace: Pace | None) -> Eta | None:
    """When the remaining work will be done; None when nothing says so.

    Args:
        remaining: work that is left, running attempts without what they have done.
        longest: seconds that the attempt needs that will end last.
        pace: of the campaign.
    """
    if pace is None or not pace.work:
        return None
    error = min(LARGEST_ERROR, NINE_OF_TEN * pace.error)
    seconds, least, most = (
        max(longest, remaining / (pace.work * factor)) for factor in (1.0, 1.0 + error, 1.0 - error)
    )
    return Eta(seconds, Time(now + least), Time(now + most))


def against_peers(paces: Mapping[str, float], groups: Mapping[str, K]) -> dict[str, float]:
    """The pace of each worker as a multiple of the median of the others with such a device.

    Args:
        paces: work per second of computing, by worker.
        groups: the device of each worker; workers with the same one are peers.
    """
    members: dict[K, list[str]] = {}
    for worker in paces:
        members.setdefault(groups[worker], []).append(worker)
    ratios = {}
    for workers in members.values():
        if len(workers) < FEWEST_PEERS:
            continue
        for worker in workers:
            others = statistics.median(paces[peer] for peer in workers if peer != worker)
            if others:
                ratios[worker] = paces[worker] / others
    return ratios
