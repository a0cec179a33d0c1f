"""An experiment: the time of the same count under different settings."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from jobs.console import SILENT, Console
from langford.errors import CheckFailed
from langford.machine.process import computing_threads
from langford.methods import Method, Plan, merge
from langford.problem import Problem
from langford.result import PartialResult
from langford.words import several

NOISE = 0.02
"""A relative difference of times that is not significant."""
MAX_TRIAL_SECONDS = 5.0
"""No longer trial follows one that takes more than this."""
DEPTHS = 5
"""Number of depths that are tried, with the suggested one in the middle."""


@dataclass(frozen=True)
class Trial:
    """One measured point of an experiment."""

    x: float  # its position on the axis of the experiment
    seconds: float  # median over the repetitions
    settings: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""  # a remark, like "35 registers"


def until_slow(trials: Iterable[Trial]) -> list[Trial]:
    """The trials up to the first that takes longer than MAX_TRIAL_SECONDS; their times grow along the axis."""
    measured = []
    for trial in trials:
        measured.append(trial)
        if trial.seconds > MAX_TRIAL_SECONDS:
            break
    return measured


def core_counts(cores: int) -> list[int]:
    """The powers of two below ``cores``, and ``cores``."""
    return sorted({*(2**k for k in range(cores.bit_length())), cores})


@dataclass(frozen=True)
class Experiment:
    """A figure: curves over one axis, by label; ``shows``: the figure or table of the thesis that it repeats."""

    name: str
    title: str
    x_label: str
    curves: Mapping[str, Sequence[Trial]]
    shows: str = ""

    @property
    def trials(self) -> list[Trial]:
        return list(chain.from_iterable(self.curves.values()))

    @property
    def best(self) -> Trial:
        """The first trial that is as fast as the fastest one, up to noise."""
        fastest = min(trial.seconds for trial in self.trials)
        return next(trial for trial in self.trials if trial.seconds <= fastest * (1 + NOISE))

    def document(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "x": self.x_label,
            "shows": self.shows,
            "best": dict(self.best.settings),
            "curves": [
                {"label": label, "trials": [asdict(trial) for trial in trials]}
                for label, trials in self.curves.items()
            ],
        }


class Stopwatch:
    """Times counts of one problem; all of them must give the same number."""

    def __init__(self, repetitions: int = 3, console: Console = SILENT) -> None:
        """
        Args:
            repetitions: of each count, of whose times the median is taken.
            console: gets the progress.
        """
        self._repetitions, self._console = repetitions, console
        self._published: int | None = None

    def afresh(self) -> Stopwatch:
        return Stopwatch(self._repetitions, self._console)

    def seconds(self, label: str, plan: Plan, count: Callable[[], Iterable[PartialResult]]) -> float:
        """Median seconds of a count; raises CheckFailed when the count differs from an earlier one.

        Args:
            label: what is counted, for people.
            plan: merges the results.
            count: returns them; its time is taken.
        """
        times = []
        for _ in range(self._repetitions):
            start = time.perf_counter()
            results = list(count())
            times.append(time.perf_counter() - start)
            published = merge(plan, results).published
            if self._published not in (None, published):
                raise CheckFailed(
                    f"{label} counts {published:,}, others {self._published:,}: do not trust this machine"
                )
            self._published = published
        median = statistics.median(times)
        self._console.say(f"{label}: {median:.3g} s")
        return median


def on_cores(problem: Problem, method: Method, cores: int, watch: Stopwatch) -> Iterator[Experiment]:
    """Yield two experiments: the depth of the tasks on all cores, then the number of cores at the best depth."""
    suggested = method.suggested_depth(problem)
    step = 1 if method.unit == "nodes" else 2
    candidates = range(suggested - step * (DEPTHS // 2), suggested + step * (DEPTHS // 2) + 1, step)
    trials = []
    for depth in (depth for depth in candidates if depth in method.depths(problem)):
        plan = method.plan(problem, depth)
        plan.evaluator()
        seconds = watch.seconds(f"depth {depth}", plan, partial(results_on_cores, plan, cores))
        trials.append(Trial(depth, seconds, {"depth": depth}, several(len(plan.work), "task")))
    by_depth = Experiment(
        "depth",
        f"{problem} by {method.name} on {several(cores, 'core')}",
        "task depth p",
        {"all cores": trials},
        "figure 1.14, the processor's part",
    )
    yield by_depth
    plan = method.plan(problem, by_depth.best.settings["depth"])
    trials = [
        Trial(count, watch.seconds(several(count, "core"), plan, partial(results_on_cores, plan, count)))
        for count in core_counts(cores)
    ]
    title = f"{problem} by {method.name}"
    yield Experiment("cores", title, "cores", {f"depth {plan.depth}": trials}, "how the processor's cores scale")


def results_on_cores(plan: Plan, cores: int) -> Iterable[PartialResult]:
    """Largest tasks first."""
    with computing_threads(cores) as pool:
        yield from pool.map(plan.evaluate, plan.largest_first())
