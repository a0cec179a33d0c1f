"""Which second method confirms a count: asked by ``confirm``, by tables, and by the advice after a wrong count."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import inf

from langford.devices import CPU, Device
from langford.methods import MAX_SEED, METHODS, Method, PlanKey
from langford.methods.speed import tabled
from langford.methods.speeds import BadSpeeds
from langford.problem import Problem

COSTLIER = 4.0
"""The method that confirms takes at most this many times as long as the fastest one that could."""
MOMENTS = 1.0
"""Methods that take less than this many seconds are equally fast."""


def second_method(key: PlanKey, device_kind: str, seeded: bool = False) -> Method | None:
    """The method that counts a problem again, by the table of benchmarks; None: there is none.

    Among methods at most four times slower than the fastest, the one least related to the first; of equals,
    the fastest.  The first method itself is the last resort, with another seed.

    Args:
        key: the plan by which it was counted.
        device_kind: the method has a kernel for it.
        seeded: only methods that take a seed, the first method itself before others.
    """
    usable = _usable(key, device_kind, seeded)
    if len(usable) < 2:
        return next(iter(usable), None)
    seconds = {method.name: _seconds(key.problem, method, device_kind) for method in usable}
    costs = {name: cost if cost > MOMENTS else 0.0 for name, cost in seconds.items()}
    affordable = COSTLIER * min(costs.values())
    return min(
        (method for method in usable if costs[method.name] <= affordable),
        key=lambda method: (relation(method, METHODS[key.method]), costs[method.name]),
    )


def relation(method: Method, other: Method) -> int:
    """How much two counts share: 0 nothing, 1 the code of the methods, 2 all but the seed."""
    if method.name == other.name:
        return 2
    return int(method.kernels == other.kernels)


def second_seed(key: PlanKey, method: Method) -> int:
    """The seed with which a method confirms the count of a plan: the default, or the one after the plan's own."""
    return (key.seed + 1) % (MAX_SEED + 1) if method.name == key.method and method.seeded else 0


def advised(key: PlanKey, device: Device = CPU) -> str:
    """The options of ``langford count`` that count a problem again; empty: there are none.

    Args:
        key: the plan by which it was counted.
        device: where it is to be counted again.
    """
    method = second_method(key, device.kind)
    if method is None:
        return ""
    seed = second_seed(key, method)
    return f"--method {method.name}{f' --seed {seed}' if seed else ''}"


def _seconds(problem: Problem, method: Method, device_kind: str) -> float:
    """By the table of benchmarks; infinite where it has no times, as of an extension's method."""
    with suppress(BadSpeeds):
        speed = tabled(problem, method, device_kind)
        if speed is not None:
            return speed.expected(problem)
    return inf


def _usable(key: PlanKey, device_kind: str, seeded: bool) -> Sequence[Method]:
    able = [
        method
        for method in METHODS.values()
        if method.refusal(key.problem) is None
        and device_kind in method.evaluators
        and (method.seeded or not seeded)
        and (method.name != key.method or method.seeded)
    ]
    own = [method for method in able if seeded and method.name == key.method]
    return own or able
