"""An experiment: the time of the same count under different settings."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langford.errors import CheckFailed
from langford.methods import Plan, merge
from langford.result import PartialResult

NOISE = 0.02
LONGEST_TRIAL = 5.0


@dataclass(frozen=True)
class Trial:
    """One point of a figure.

    Attributes:
        x: where it stands on the axis of its experiment.
        seconds: median over the repetitions.
        settings: what was changed for it.
        note: what else is worth knowing ("35 registers").
    """

    x: float
    seconds: float
    settings: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


def until_slow(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """The trials up to the first that takes longer than LONGEST_TRIAL; their times grow along the axis."""
    done = []
    for trial in trials:
        done.append(trial)
        if trial.seconds > LONGEST_TRIAL:
            break
    return tuple(done)


def core_counts(cores: int) -> list[int]:
    """The numbers of cores to try: the powers of two below all, and all."""
    return sorted({*(2**k for k in range(cores.bit_length())), cores})


@dataclass(frozen=True)
class Curve:
    """One line of a figure.

    Attributes:
        label: its name in the legend.
        trials: its points.
    """

    label: str
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class Experiment:
    """A figure: curves over one axis.

    Attributes:
        name: short and unique, for file names.
        title: which problem is counted, how and where.
        x_label: what the axis shows.
        curves: one or several lines.
        shows: the figure or table of the thesis that it repeats, or what it compares.
    """

    name: str
    title: str
    x_label: str
    curves: tuple[Curve, ...]
    shows: str = ""

    @property
    def best(self) -> Trial:
        """The first trial that is as fast as the fastest one, up to noise."""
        trials = [trial for curve in self.curves for trial in curve.trials]
        fastest = min(trial.seconds for trial in trials)
        return next(trial for trial in trials if trial.seconds <= fastest * (1 + NOISE))

    def document(self) -> dict[str, Any]:
        """The experiment as JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "x": self.x_label,
            "shows": self.shows,
            "best": dict(self.best.settings),
            "curves": [
                {
                    "label": curve.label,
                    "trials": [
                        {
                            "x": trial.x,
                            "seconds": trial.seconds,
                            "settings": dict(trial.settings),
                            "note": trial.note,
                        }
                        for trial in curve.trials
                    ],
                }
                for curve in self.curves
            ],
        }


class Stopwatch:
    """Times counts of one problem; all of them must give the same number."""

    def __init__(self, repetitions: int = 3, tell: Callable[[str], None] = lambda message: None) -> None:
        self._repetitions, self._tell = repetitions, tell
        self._published: int | None = None

    def afresh(self) -> Stopwatch:
        """A stopwatch with the same settings, for another problem."""
        return Stopwatch(self._repetitions, self._tell)

    def seconds(self, what: str, plan: Plan, count: Callable[[], Iterable[PartialResult]]) -> float:
        """Median seconds of ``count``, which evaluates every task of ``plan``; raises CheckFailed."""
        times = []
        for _ in range(self._repetitions):
            start = time.perf_counter()
            results = list(count())
            times.append(time.perf_counter() - start)
            published = merge(plan, results).published
            if self._published not in (None, published):
                raise CheckFailed(
                    f"{what} counts {published:,}, others {self._published:,}: do not trust this machine"
                )
            self._published = published
        self._tell(f"{what}: {statistics.median(times):.3g} s")
        return statistics.median(times)
