"""How long the entries of a table take: one measurement for each method, scaled to all of its problems."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jobs.tuning.forecast import core_seconds
from langford.devices import Device
from langford.errors import BadDepth
from langford.methods import Method
from langford.problem import Problem

ENOUGH_SECONDS = 0.1
"""A task that takes this time on a GPU shows the speed of larger ones."""


@dataclass(frozen=True)
class MethodForecast:
    """The time of counts by one method, from a measurement with the largest problem.

    Attributes:
        method: how they are counted.
        largest: the problem that is measured.
        devices: that compute at the same time.
    """

    method: Method
    largest: Problem
    devices: Sequence[Device]

    def seconds(self, problem: Problem) -> float:
        """Expected seconds for one problem, no larger than ``largest``; 0 for a short count."""
        start = self.method.speeds.forecast(problem.copies)
        if problem.n <= start.instant or not self._measured:
            return 0.0
        if start.growth is not None:
            return float(self._measured * start.growth ** (problem.n - self.largest.n))
        widening = (problem.n / self.largest.n) ** start.widening
        return float(self._measured * self._work(problem) / self._work(self.largest) * widening)

    @cached_property
    def _measured(self) -> float:
        """Seconds for the largest problem, measured now; 0 for a short count."""
        device = self.devices[0]
        if self.largest.n <= self.method.speeds.forecast(self.largest.copies).instant:
            return 0.0
        one = core_seconds(self.largest, self.method) if device.on_cores else self._on_gpu(device)
        return one / len(self.devices)

    def _on_gpu(self, device: Device) -> float:
        """Seconds of one GPU for the largest problem, from a task that takes long enough to show its speed."""
        depths, shown = self.method.best_depths(self.largest), 0.0
        deep = min(max(self.method.suggested_depth(self.largest), depths[0]), depths[-1])
        for depth in range(deep, depths[0] - 1, -depths.step):
            plan = self.method.plan(self.largest, depth)
            try:
                evaluator, index = plan.evaluator(device), int(np.argmax(plan.work))
            except BadDepth:
                break
            evaluator.evaluate(index)  # tables and buffers are made once
            began = time.perf_counter()
            evaluator.evaluate(index)
            seconds = time.perf_counter() - began
            shown = seconds / float(plan.work[index])
            if seconds >= ENOUGH_SECONDS:
                break
        return shown * self._work(self.largest)

    def _work(self, problem: Problem) -> float:
        return float(self.method.plan(problem, self.method.suggested_depth(problem)).work.sum())


def expected_seconds(choices: Sequence[tuple[Problem, Method]], devices: Sequence[Device]) -> dict[Problem, float]:
    """Expected seconds of each problem by its method, on devices that compute at the same time."""
    largest: dict[str, Problem] = {}
    for problem, method in choices:
        if method.name not in largest or problem.n > largest[method.name].n:
            largest[method.name] = problem
    forecasts = {method.name: MethodForecast(method, largest[method.name], devices) for _, method in choices}
    return {problem: forecasts[method.name].seconds(problem) for problem, method in choices}
