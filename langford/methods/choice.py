"""Choose the method that counts a problem fastest on a device, and the task depth: by measured speed, else by rule.

``langford tune choice`` measures; the profile of the machine keeps, by device and problem, the seconds of each
method.  A plan that several machines share is chosen by the rule alone: it is the same on each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from langford.devices import Device
from langford.errors import BadDepth
from langford.kernels.gpu.runtime import NoGpu
from langford.methods.plan import Method
from langford.methods.speed import is_short, profiled, speed_of
from langford.problem import Problem
from langford.problem.variants import VARIANTS
from langford.words import duration

MANY_TASKS = 1_000_000
"""No limit of time asks for more tasks than this."""


@dataclass(frozen=True)
class Choice:
    """A method, and why it was chosen."""

    method: Method  # the method
    reason: str  # in words; empty when there was no other candidate


def by_rule(problem: Problem, methods: Iterable[Method], device_kind: str) -> Method:
    """The method that was the fastest in benchmarks; ``methods``: at least one, in order of preference."""
    first, *others = methods
    start = 0
    for method in others:
        begin = method.speeds.first(device_kind, problem.mirrored)
        if begin is not None and start <= begin <= problem.n:
            first, start = method, begin
    return first


def fastest_of_kind(problem: Problem, methods: Sequence[Method], device_kind: str) -> Choice:
    """The same as :func:`by_rule`, with a reason where there are several methods."""
    return Choice(by_rule(problem, methods, device_kind), f"by rule for {device_kind}" if len(methods) > 1 else "")


def fastest(problem: Problem, methods: Iterable[Method], device: Device) -> Choice:
    """The fastest of some methods that can count a problem on a device.

    A measurement of this problem decides; without one, a measurement of a problem of the same kind.  A method that
    gains with n and was the fastest with fewer colours is the fastest here, too; so is one that loses with n and
    was the fastest with more colours.  Otherwise a rule decides.

    Args:
        problem: what is counted.
        methods: at least one, in order of preference.
        device: where; its name is read only when there are several methods.

    Raises NoGpu when there is no such GPU.
    """
    candidates = {method.name: method for method in methods}
    ruled = by_rule(problem, candidates.values(), device.kind)
    if len(candidates) == 1:
        return Choice(ruled, "")
    measured = profiled(device)
    here = _best(measured.get(problem.name, {}), candidates)
    if here is not None:
        return Choice(candidates[here], f"measured on this machine: {_words(measured[problem.name], candidates)}")
    for n, name, words in _neighbours(problem, measured, candidates):
        late = candidates[name].speeds.fastest_from.get(device.kind, 0) > 0
        if (late and n < problem.n) or (not late and n > problem.n):
            return Choice(candidates[name], f"measured on this machine for {n} colours: {words}")
    return Choice(ruled, "by rule")


def _best(seconds: dict[str, float], candidates: dict[str, Method]) -> str | None:
    """The name of the fastest candidate; None when fewer than two of them were measured."""
    known = {name: seconds[name] for name in candidates if name in seconds}
    return min(known, key=known.__getitem__) if len(known) > 1 else None


def _words(seconds: dict[str, float], candidates: dict[str, Method]) -> str:
    return ", ".join(f"{name} {duration(seconds[name])}" for name in candidates if name in seconds)


def _neighbours(
    problem: Problem, measured: dict[str, dict[str, float]], candidates: dict[str, Method]
) -> list[tuple[int, str, str]]:
    """(n, the fastest method, the times in words) of measured problems of the same kind, nearest n first."""
    found = []
    for name, seconds in measured.items():
        other, best = Problem.parse(name), _best(seconds, candidates)
        same_kind = other.variant in VARIANTS and (other.variant, other.copies) == (problem.variant, problem.copies)
        if best is not None and same_kind:
            found.append((abs(other.n - problem.n), other.n, best, _words(seconds, candidates)))
    return [(n, best, words) for _, n, best, words in sorted(found)]


def task_depth(
    problem: Problem, method: Method, device: Device, seconds: float | None = None, at_most: float | None = None
) -> int:
    """The task depth p for a problem, a method and a device.

    Args:
        problem, method, device: what is counted, how, and where.
        seconds: how long a task should take: the answer is the smallest depth whose largest task takes at most
            about that time, or the deepest one when none is deep enough.  None: a rule chooses, the same on every
            machine.
        at_most: without ``seconds``, a deeper plan than the rule's is chosen where its tasks would take longer.

    Raises what Method.plan and :func:`langford.methods.speed.speed_of` raise.
    """
    depths = method.best_depths(problem)
    if seconds is not None:
        found = _coarsest(problem, method, device, seconds, depths)
        return depths[-1] if found is None else found
    suggested = max(depths[0], method.suggested_depth(problem) - device.fewer_levels)
    if at_most is None or is_short(problem, method, device):
        return suggested
    deeper = [depth for depth in depths if depth >= suggested and method.fewest_tasks(problem, depth) <= MANY_TASKS]
    found = _coarsest(problem, method, device, at_most, deeper)
    return suggested if found is None else found


def _coarsest(
    problem: Problem, method: Method, device: Device, seconds: float, depths: Iterable[int]
) -> int | None:
    """The first of some depths whose largest task takes at most about this time; None: there is none."""
    whole = speed_of(problem, method, device).expected(problem)
    for depth in depths:
        try:
            plan = method.plan(problem, depth)
            plan.evaluator(device)
        except BadDepth:
            continue
        except NoGpu:
            pass  # others will evaluate the tasks
        if whole * plan.work.max() <= seconds * plan.work.sum():
            return depth
    return None
