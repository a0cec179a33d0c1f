"""Count in this process: plan, evaluate every task, merge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import replace
from queue import SimpleQueue

from langford.cost import MAX_SECONDS, require_affordable
from langford.devices import Device, devices
from langford.machine.process import computing_threads
from langford.methods import Count, Method, Plan, chosen_plan, find_method, merge
from langford.methods.backtracking import estimation, explicit
from langford.methods.merging import Check
from langford.methods.speed import expected_seconds, tabled
from langford.problem import Problem, problem_of
from langford.problem.grammar import term_of
from langford.problem.sequences import NO_COLOUR
from langford.result import PartialResult

WALKS = 1_000_000
"""Random walks of an estimate, unless another number is asked for."""


def count(
    problem: Problem | int | str,
    method: str | None = None,
    device: str | Device = "cpu",
    seed: int | None = None,
    anyway: bool = False,
) -> Count:
    """The exact number of arrangements, as the literature counts it (Problem.published): an int with its checks.

    Of a sequence of the OEIS and an index it is the term, with mirror images as the sequence counts them.

    >>> import langford
    >>> langford.count(8)
    <Count L(2,8) = 150>
    >>> langford.count(langford.Problem.skolem(8), method="godfrey") + 1
    253
    >>> langford.count("A176127 8"), langford.count("A014552(8)")
    (<Count L(2,8) = 300>, <Count L(2,8) = 150>)
    >>> langford.count(21) == 0   # no arrangement exists, by parity: Problem.obstruction
    True

    Args:
        problem: a Problem, n for L(2, n), or words like "near-skolem 12 missing 5" (:meth:`Problem.parse`).
        method: "polyphase", "shifted2", "shifted", "godfrey", "necklace", "miller" or "regular"; by default the
            fastest that applies on such devices (:func:`langford.methods.fastest_method`).
        device: "cpu" for all cores, "cuda" for every GPU, "cuda:1" for one of them.
        seed: for "shifted2", "shifted" and "necklace", which of its sums; the count is the same with each.
        anyway: compute even where the problem has an obstruction, and the count is known to be 0, or where it takes
            over a year.

    Raises:
        BadProblem, MethodDoesNotApply, BadSeed, BadDevice, NoGpu: as their messages say.
        TooExpensive: it takes over a year; the message gives the expected time.
        CheckFailed: a result contradicts itself; do not trust this machine.
    """
    term = term_of(problem) if isinstance(problem, str) else None
    if term is not None and not term.words:
        return Count(Problem("skolem", (), 0, 3), 1, 1, 0, 0, (Check(NO_COLOUR),))
    problem, place = problem_of(problem), Device.parse(str(device))
    if problem.obstruction and not anyway:
        if method is not None:
            find_method(method, problem)
        return Count(problem, 0, 0, 0, 0, (Check(f"no arrangement exists, {problem.obstruction}"),))
    chosen, workers = chosen_plan(problem, place, method, seed=seed), devices(str(device))
    require_affordable(
        f"{problem} by {chosen.method.name}",
        _expected_seconds(problem, chosen.method, workers),
        workers,
        anyway,
        "anyway=True",
        lambda: "langford.estimate approximates it, and langford.plan splits it for other machines",
    )
    merged, _ = count_tasks(chosen.plan, workers)
    if term is None:
        return merged
    return replace(merged, published=term.value(merged.published, merged.arrangements))


def _expected_seconds(problem: Problem, method: Method, workers: Sequence[Device]) -> float:
    """By the table of benchmarks, where that is enough to know that a count may start; otherwise measured."""
    known = tabled(problem, method, workers[0].kind)
    if known is not None and known.longest.expected(problem) / len(workers) < MAX_SECONDS:
        return known.expected(problem) / len(workers)
    return expected_seconds([(problem, method)], workers)[problem]


def plan(
    problem: Problem | int | str,
    method: str | None = None,
    depth: int | None = None,
    device: str | Device = "cpu",
    seed: int | None = None,
) -> Plan:
    """A problem split into independent tasks, which can run on any farm.

    The same arguments give the same plan on every machine.

    >>> import langford
    >>> plan = langford.plan(12, depth=8)
    >>> len(plan.tasks)
    6
    >>> results = [plan.evaluate(task) for task in plan.tasks]
    >>> langford.merge(plan, results)
    <Count L(2,12) = 108144>

    Args:
        problem: a Problem, n for L(2, n), or words like "near-skolem 12 missing 5" (:meth:`Problem.parse`).
        method: by default the fastest for the kind of ``device``, by rule.
        depth: the task depth p; by default a rule chooses, for the kind of ``device``.
        seed: for "shifted2", "shifted" and "necklace", which of its sums.

    Raises BadProblem, MethodDoesNotApply, BadDepth or BadSeed.
    """
    return chosen_plan(problem_of(problem), Device.parse(str(device)), method, depth, seed).plan


def estimate(problem: Problem | int | str, walks: int = WALKS, seed: int = 1) -> estimation.Estimate:
    """An estimate of the count from random walks, with its standard error.

    Args:
        problem: a Problem, n for L(2, n), or words.
        walks: how many; the error falls with their square root.
        seed: of the random walks; the same one gives the same estimate.

    Raises BadProblem, MethodDoesNotApply, BadSeed or BadInput.

    >>> import langford
    >>> walked = langford.estimate(20, walks=20_000)
    >>> abs(walked.value - 2_636_337_861_200) < 5 * walked.standard_error
    True
    """
    term = term_of(problem) if isinstance(problem, str) else None
    chosen = problem_of(problem)
    walked = estimation.estimate(chosen, walks, seed)
    if term is None or not term.sequence.images:
        return walked
    value = walked.value * chosen.images - chosen.self_mirrored
    return replace(walked, value=value, standard_error=walked.standard_error * chosen.images)


def arrangements(problem: Problem | int | str) -> Iterator[explicit.Arrangement]:
    """All arrangements one by one, mirror images once (:mod:`langford.methods.backtracking.explicit`).

    Args:
        problem: a Problem, n for L(2, n), or words; one that has an obstruction has none, at once.

    >>> import langford
    >>> next(langford.arrangements(3))
    (2, 3, 1, 2, 1, 3)
    """
    return explicit.iterate(problem_of(problem))


def count_tasks(
    plan: Plan,
    workers: Sequence[Device],
    tell: Callable[[float, float], None] = lambda done, seconds: None,
) -> tuple[Count, float]:
    """The merged count of all tasks, and the seconds that it took, compilation left out.

    Kernels release the interpreter, so one thread per device keeps them all busy.

    Args:
        workers: the devices, one entry for each thread.
        tell: called with (work done, seconds) after every task, largest tasks first.

    Raises CheckFailed, and what Plan.evaluator raises.
    """
    for device in set(workers):
        plan.evaluator(device)
    start = time.perf_counter()
    idle: SimpleQueue[Device] = SimpleQueue()
    for device in workers:
        idle.put(device)

    def compute(index: int) -> PartialResult:
        device = idle.get()
        try:
            return plan.evaluate(index, device)
        finally:
            idle.put(device)

    done, results = 0.0, []
    with computing_threads(len(workers)) as pool:
        waiting = {pool.submit(compute, index): index for index in plan.largest_first()}
        for future in as_completed(waiting):
            results.append(future.result())
            done += float(plan.work[waiting[future]])
            tell(done, time.perf_counter() - start)
    return merge(plan, results), time.perf_counter() - start
