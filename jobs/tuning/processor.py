"""The experiments for the cores of a machine: the depth of tasks, and the number of cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jobs.tuning.experiment import Curve, Experiment, Stopwatch, Trial, core_counts
from langford.methods import Method, Plan
from langford.problem import Problem
from langford.result import PartialResult
from langford.threads import computing_threads
from langford.words import several

DEPTHS = 5
"""Number of depths that are tried, with the suggested one in the middle."""


def on_cores(problem: Problem, method: Method, cores: int, watch: Stopwatch) -> Iterator[Experiment]:
    """Yield two experiments: the depth of the tasks on all cores, then the number of cores at the best depth."""
    suggested = method.suggested_depth(problem)
    step = 1 if method.unit == "nodes" else 2
    candidates = range(suggested - step * (DEPTHS // 2), suggested + step * (DEPTHS // 2) + 1, step)
    trials = []
    for depth in (depth for depth in candidates if depth in method.depths(problem)):
        plan = method.plan(problem, depth)
        plan.evaluator()
        seconds = watch.seconds(f"depth {depth}", plan, lambda plan=plan: evaluated(plan, cores))  # type: ignore[misc]
        trials.append(Trial(depth, seconds, {"depth": depth}, several(len(plan.work), "task")))
    by_depth = Experiment(
        "depth",
        f"{problem} by {method.name} on {several(cores, 'core')}",
        "task depth p",
        (Curve("all cores", tuple(trials)),),
        "figure 1.14, the processor's part",
    )
    yield by_depth
    plan = method.plan(problem, by_depth.best.settings["depth"])
    yield Experiment(
        "cores",
        f"{problem} by {method.name}",
        "cores",
        (
            Curve(
                f"depth {plan.depth}",
                tuple(
                    Trial(
                        count,
                        watch.seconds(several(count, "core"), plan, lambda count=count: evaluated(plan, count)),  # type: ignore[misc]
                    )
                    for count in core_counts(cores)
                ),
            ),
        ),
        "how the processor's cores scale",
    )


def evaluated(plan: Plan, cores: int) -> Iterable[PartialResult]:
    """Largest tasks first."""
    with computing_threads(cores) as pool:
        yield from pool.map(plan.evaluate, plan.largest_first())
