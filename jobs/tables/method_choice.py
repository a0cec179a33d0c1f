"""Which device and method count each problem of a table, and which second method confirms it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from jobs.verify.second_method import second_method
from langford.devices import CPU, Device
from langford.errors import BadInput
from langford.methods import Method, PlanKey, chosen_plan, task_depth
from langford.methods.speed import expected_seconds
from langford.problem import Problem


class MethodChoice:
    """The devices and methods for the problems of a table."""

    def __init__(self, problems: Iterable[Problem], devices: Sequence[Device]) -> None:
        """
        Args:
            problems: of the table.
            devices: that count at the same time.

        Raises as :func:`langford.methods.chosen_plan`.
        """
        self._devices = devices
        self._methods: dict[Problem, Method] = {}
        self._small: set[Problem] = set()
        for problem in problems:
            method = chosen_plan(problem, CPU).method
            if problem.n <= method.speeds.forecast(problem.copies).instant:
                self._small.add(problem)
            elif devices[0] != CPU:
                method = chosen_plan(problem, devices[0]).method
            self._methods[problem] = method

    def seconds(self, problems: Collection[Problem]) -> dict[Problem, float]:
        """Expected seconds of each of some problems, measured now; 0 for a small one."""
        large = [(problem, self._methods[problem]) for problem in problems if not self.small(problem)]
        return dict.fromkeys(problems, 0.0) | expected_seconds(large, self._devices)

    def small(self, problem: Problem) -> bool:
        """Whether a core of this process counts a problem in less time than another process takes to start."""
        return problem in self._small

    def devices(self, problem: Problem) -> Sequence[Device]:
        return [CPU] if self.small(problem) else self._devices

    def depth(self, problem: Problem, method: Method) -> int:
        """The depth at which a problem is counted.

        It is the coarsest for a small problem: a result costs more to keep than it saves.  Raises as
        :func:`langford.methods.task_depth`.

        Args:
            problem: of the table.
            method: which counts it.
        """
        if self.small(problem):
            return method.best_depths(problem)[0]
        return task_depth(problem, method, self.devices(problem)[0])

    def first(self, problem: Problem) -> Method:
        return self._methods[problem]

    def second(self, problem: Problem, key: PlanKey) -> Method:
        """The method that counts a problem again, as :func:`jobs.verify.second_method.second_method` chooses.

        Raises BadInput when there is none.

        Args:
            problem: of the table.
            key: the plan by which it was counted.
        """
        kind = self.devices(problem)[0].kind
        second = second_method(key, kind)
        if second is None:
            raise BadInput(
                f"no other method with a kernel for {kind} counts {problem}: leave --confirm out, or choose "
                "another --device"
            )
        return second
