"""The numbers of a computing campaign, as Loiseau's thesis gives them, and where its results come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from db.look.figures.attempts import Loss
from db.look.history import History
from db.states import LOST, Outcome
from jobs.show.report.timeline import Computing, Times
from jobs.verify.agreement import device, provenance
from langford.devices import CPU

NAMED = ("host", "device", "kernels")
UNKNOWN = "not known"


@dataclass(frozen=True)
class Spread:
    """Statistics of many durations, in seconds."""

    number: int
    mean: float
    deviation: float
    least: float
    median: float
    most: float

    @classmethod
    def of(cls, seconds: NDArray[np.float64]) -> Spread | None:
        if not len(seconds):
            return None
        least, median, most = map(float, np.quantile(seconds, (0.0, 0.5, 1.0)))
        return cls(len(seconds), float(seconds.mean()), float(seconds.std()), least, median, most)

    @property
    def relative(self) -> float:
        return self.deviation / self.mean if self.mean else 0.0


@dataclass(frozen=True)
class LostAttempts:
    outcome: Outcome
    attempts: int
    unbegun: int  # how many more were given back before computing began; they cost nothing
    seconds: float  # for how long those that had begun held a device


@dataclass(frozen=True)
class CampaignNumbers:
    """A campaign in numbers; times are seconds."""

    tasks: int
    done: int
    times: Spread | None
    effective: float  # computing time of the accepted results
    timed: int  # how many of them are known to have come at a time; files may not say so of theirs
    timed_seconds: float
    # began, ended: when the first computing that brought an accepted result began, and when the last of these
    # results came, in seconds since 1970; None: not known
    began: float | None
    ended: float | None
    lost: tuple[LostAttempts, ...] | None  # attempts without a result, by how they ended; None: not known
    repeated: int | None  # further results, which confirm or contradict the accepted ones; None: not known
    repeated_seconds: float
    most_devices: int | None  # the largest number of devices that computed at once; None: not known

    @property
    def elapsed(self) -> float | None:
        return None if self.began is None or self.ended is None else self.ended - self.began

    @property
    def occupancy(self) -> float | None:
        """How many devices computed accepted results at once, in the mean; None: not known."""
        return self.timed_seconds / self.elapsed if self.elapsed else None

    @property
    def hourly(self) -> float | None:
        return self.timed / self.elapsed * 3600 if self.elapsed else None

    @property
    def aborted(self) -> int | None:
        return None if self.lost is None else sum(kind.attempts for kind in self.lost)

    @property
    def aborted_seconds(self) -> float:
        return sum(kind.seconds for kind in self.lost or ())


def numbers(history: History, spans: Computing | None) -> CampaignNumbers:
    """``spans``: None where only results are known."""
    results = history.results
    lost, repeated, repeated_seconds = None, None, 0.0
    if spans is not None and history.attempts is not None and history.tells_losses:
        lost = tuple(_lost(history, outcome) for outcome in LOST)
        # What workers brought beside the accepted results; those of imports are no attempts.
        own = results.worker >= 0
        repeated = int(spans.has_result.sum() - own.sum())
        repeated_seconds = max(0.0, float(np.nansum(history.attempts.seconds) - results.seconds[own].sum()))
    is_timed = np.isfinite(results.accepted)
    accepted = results.accepted[is_timed]
    return CampaignNumbers(
        tasks=history.tasks,
        done=len(results.task),
        times=Spread.of(results.seconds),
        effective=float(results.seconds.sum()),
        timed=len(accepted),
        timed_seconds=float(results.seconds[is_timed].sum()),
        began=None if spans is None else spans.first(),
        ended=float(accepted.max()) if len(accepted) else None,
        lost=lost,
        repeated=repeated,
        repeated_seconds=repeated_seconds if repeated else 0.0,
        most_devices=None if spans is None else spans.most(),
    )


def _lost(history: History, outcome: Outcome) -> LostAttempts:
    parts = [part for part in history.cut_short if part.outcome is outcome]
    loss = Loss.of(parts)
    return LostAttempts(outcome, loss.attempts, sum(part.unbegun for part in parts), loss.seconds)


@dataclass(frozen=True)
class DeviceResults:
    """Results of one kind of device of one host, by one version of the kernels."""

    host: str
    device: str  # what the maker calls it; "cpu" for a processor without a name
    kernels: str
    # Of this program and of what its kernels are compiled with: (name, version)
    versions: tuple[tuple[str, str], ...]
    units: int  # how many devices of this kind the provenances distinguish; 1 if they do not
    times: Times  # of each result, in seconds
    work: float

    @property
    def seconds(self) -> float:
        return float(self.times.sum())


def origins(history: History, work: Times) -> tuple[DeviceResults, ...]:
    """Those with the longest computing time first; ``work``: of every task, float64[tasks]."""
    results = history.results
    alike: dict[tuple[str, str, str, tuple[tuple[str, str], ...]], list[int]] = {}
    units: dict[tuple[str, str], set[str]] = {}
    for place, source in enumerate(history.sources):
        said = provenance(source)
        place_of, model = device(said.get("device", UNKNOWN))
        if model == str(CPU):
            model = _processor(history, place) or model
        host = said.get("host", UNKNOWN)
        versions = tuple((name, text) for name, text in said.items() if name not in NAMED)
        alike.setdefault((host, model, said.get("kernels", UNKNOWN), versions), []).append(place)
        units.setdefault((host, model), set()).add(place_of)
    found = []
    for (host, model, kernels, versions), places in alike.items():
        chosen = np.isin(results.source, places)
        if chosen.any():
            times, done = results.seconds[chosen], float(work[results.task[chosen]].sum())
            found.append(DeviceResults(host, model, kernels, versions, len(units[host, model]), times, done))
    return tuple(sorted(found, key=lambda origin: (-origin.seconds, origin.host, origin.kernels)))


def _processor(history: History, source: int) -> str | None:
    positions = history.results.worker[history.results.source == source]
    worker = int(positions[0]) if len(positions) else -1
    return None if history.workers is None or worker < 0 else history.workers[worker].machine.device_model
