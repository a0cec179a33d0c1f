"""Speeds and remaining times: arithmetic, without a database.

The current speed is the work of the recent results, divided by the time in which they arrived.  This time is the
shortest of several windows in which enough results arrived, and starts no earlier than the present workers: a farm
that was idle overnight is not slow.  The remaining time is the remaining work divided by this speed, and at least
the time that the last running task still takes.  Its spread follows from that of the speed: the window is divided
into parts, whose variation gives the error of their mean.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeVar

from db.files.messages import Time
from db.look.overview.records import Eta
from langford.speed import speed

WINDOWS_SECONDS = (10.0, 60.0, 300.0, 900.0, 3600.0, 4 * 3600.0, 24 * 3600.0)
ENOUGH = 30
"""Number of results from which a speed is known to about 20 %."""
PARTS = 10
"""Number of parts of a window, whose variation gives the error of the speed."""
NINE_OF_TEN = 1.645
"""Standard deviations within which nine of ten values of a normal distribution lie."""
LARGEST_ERROR = 0.9
"""Maximum error of a speed, relative to the speed."""
FEWEST_RESULTS, FEWEST_PEERS = 5, 3
"""Minimum numbers of a worker's results, and of workers with such a device, for a comparison."""

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Arrival:
    """A result that arrived.

    Attributes:
        worker: its worker.
        at: when it arrived, in seconds since 1970.
        work: estimated work of its task.
    """

    worker: str
    at: float
    work: float


@dataclass(frozen=True)
class Pace:
    """The recent speed of a campaign or of a worker.

    Attributes:
        seconds: length of the window.
        work: work per second.
        results: results per second.
        error: standard error of ``work``, relative to it.
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
        now: end of the window.
        since: earliest start of the window: when the first of the present workers started.
        arrivals: returns the results that arrived after a time.
    """
    longest = max(1.0, now - since)
    for window in WINDOWS_SECONDS:
        seconds = min(window, longest)
        arrived = [arrival for arrival in arrivals(now - seconds) if now - seconds < arrival.at]
        if len(arrived) >= ENOUGH or seconds < window or window == WINDOWS_SECONDS[-1]:
            break
    return seconds, arrived


def pace_of(now: float, seconds: float, arrived: Sequence[Arrival]) -> Pace | None:
    """The speed in a window that ends now; None: nothing arrived."""
    if not arrived:
        return None
    parts = [0.0] * PARTS
    for arrival in arrived:
        part = int((arrival.at - (now - seconds)) / seconds * PARTS)
        parts[min(max(part, 0), PARTS - 1)] += arrival.work
    mean = sum(parts) / PARTS
    error = statistics.stdev(parts) / sqrt(PARTS) / mean if mean else 0.0
    return Pace(seconds, speed(sum(parts), seconds) or 0.0, len(arrived) / seconds, error)


def eta_of(now: float, remaining: float, longest: float, pace: Pace | None) -> Eta | None:
    """When the remaining work will be done; None: unknown.

    Args:
        remaining: remaining work, without what running attempts have done.
        longest: seconds until the last running attempt ends.
        pace: recent speed of the campaign.
    """
    if pace is None or not pace.work:
        return None
    error = min(LARGEST_ERROR, NINE_OF_TEN * pace.error)
    seconds, least, most = (
        max(longest, remaining / (pace.work * factor)) for factor in (1.0, 1.0 + error, 1.0 - error)
    )
    return Eta(seconds, Time(now + least), Time(now + most))


def against_peers(paces: Mapping[str, float], groups: Mapping[str, K]) -> dict[str, float]:
    """The speed of each worker relative to the median of other workers with such a device.

    Args:
        paces: work per second of computing time, by worker.
        groups: the device of each worker; workers with the same device are peers.
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
