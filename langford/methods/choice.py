"""Choose the method that counts a problem fastest on a device, and the task depth: by measured speed, else by rule.

``langford tune choice`` measures; the profile of the machine keeps, by device and problem, the seconds of each
method.  A plan that several machines share is chosen by the rule alone: it is the same on each of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from langford.devices import Device
from langford.errors import BadDepth
from langford.machine.profile import BadProfile, profile_file, save_settings, settings_of
from langford.methods.plan import Method
from langford.problem import Problem
from langford.problem.variants import VARIANTS

PROFILE_ENTRY = "choice"
"""Where the profile keeps the measured seconds, in the place of a method's name."""
ENOUGH_SECONDS = 0.1
"""A task that takes this time shows the speed of larger ones, in seconds."""


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

    Raises BadProfile, or NoGpu when there is no such GPU.
    """
    candidates = {method.name: method for method in methods}
    ruled = by_rule(problem, candidates.values(), device.kind)
    if len(candidates) == 1:
        return Choice(ruled, "")
    measured = _measured(device)
    here = _best(measured.get(problem.name, {}), candidates)
    if here is not None:
        return Choice(candidates[here], f"measured on this machine: {_words(measured[problem.name], candidates)}")
    for n, name, words in _neighbours(problem, measured, candidates):
        late = candidates[name].speeds.fastest_from.get(device.kind, 0) > 0
        if (late and n < problem.n) or (not late and n > problem.n):
            return Choice(candidates[name], f"measured on this machine for {n} colours: {words}")
    return Choice(ruled, "by rule")


def keep(problem: Problem, device: Device, seconds: dict[str, float]) -> str:
    """Keep the measured seconds of each method in the profile; the file.  Raises BadProfile or OSError."""
    measured = {**_measured(device), problem.name: seconds}
    return str(save_settings(device.name, PROFILE_ENTRY, measured))


def _measured(device: Device) -> dict[str, dict[str, float]]:
    """Seconds of each method by name of the problem; raises BadProfile."""
    measured = settings_of(device.name, PROFILE_ENTRY)
    for seconds in measured.values():
        if not isinstance(seconds, dict) or not all(isinstance(value, int | float) for value in seconds.values()):
            raise BadProfile(f"{profile_file()}: {device.name} holds no times; run `langford tune choice` again")
    return measured


def _best(seconds: dict[str, float], candidates: dict[str, Method]) -> str | None:
    """The name of the fastest candidate; None when fewer than two of them were measured."""
    known = {name: seconds[name] for name in candidates if name in seconds}
    return min(known, key=known.__getitem__) if len(known) > 1 else None


def _words(seconds: dict[str, float], candidates: dict[str, Method]) -> str:
    return ", ".join(f"{name} {seconds[name]:.3g} s" for name in candidates if name in seconds)


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


def task_depth(problem: Problem, method: Method, device: Device, seconds: float | None = None) -> int:
    """The task depth p for a problem, a method and a device.

    Without ``seconds`` a rule chooses, the same on every machine.  With it one task of a deep plan is
    evaluated to measure the speed: the answer is the smallest depth whose largest task takes at most
    about that time, or the deepest one when none is deep enough.

    Raises what Method.plan and Plan.evaluator raise.
    """
    depths = method.best_depths(problem)
    suggested = method.suggested_depth(problem)
    if seconds is None:
        return max(depths[0], suggested - device.fewer_levels)
    # Where tasks are larger, one is large enough to measure one level higher in the search.
    deep = suggested - (device.fewer_levels > 0) if method.speeds.probe_depth is None else method.speeds.probe_depth
    most_work = seconds * _speed(problem, method, min(max(deep, depths[0]), depths[-1]), device)
    for depth in depths:
        try:
            plan = method.plan(problem, depth)
            plan.evaluator(device)
        except BadDepth:
            continue
        if plan.work.max() <= most_work:
            return depth
    return depths[-1]


def _speed(problem: Problem, method: Method, depth: int, device: Device) -> float:
    """Work per second of a device at the largest task of a depth.

    Where the work is known in points, a task that takes too little time to show the speed is followed by one of the
    next depth with larger tasks.
    """
    shown, depths = 0.0, method.best_depths(problem)
    for shallower in range(depth, depths[0] - 1, -depths.step):
        plan = method.plan(problem, shallower)
        try:
            evaluator, index = plan.evaluator(device), int(plan.work.argmax())
        except BadDepth:
            if shown:
                break
            raise
        evaluator.evaluate(index)  # tables and buffers are made once
        start = time.perf_counter()
        evaluator.evaluate(index)
        seconds = time.perf_counter() - start
        shown = float(plan.work[index]) / seconds
        if seconds >= ENOUGH_SECONDS or method.speeds.probe_depth is None:
            break
    return shown
