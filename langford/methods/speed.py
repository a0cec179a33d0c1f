"""How long a method takes on a device: whoever chooses a depth, forecasts or limits asks here.

What is known best answers: the results of the campaign, else a measurement, else the table of benchmarks
(``speeds.toml``).  All of them are for a device that nothing else uses.

The work of a sum is known exactly, in points: some tasks show its speed.  They must not be too small, because each
task prepares tables, and they are drawn at random: the first task of a shifted sum takes five times as long as
others of its work, because more of its points have terms.  The work of a search is not known: a smaller problem is
searched, and its time multiplied by a factor for each further colour, which benchmarks have shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from langford.devices import Device
from langford.errors import BadDepth
from langford.kernels.gpu.runtime import NoGpu
from langford.methods.plan import Method, Plan
from langford.problem import Problem

ENOUGH_SECONDS = 0.25
"""A task that takes this time shows the speed of larger ones."""
TIMES = 3
"""How often such a task is timed at most; the shortest time is what it takes while nothing else uses the device."""
LONG_SECONDS = 10.0
"""A task that took this long is not timed again: tasks of record campaigns do, and the user is waiting."""
GROWTH_ERROR = 1.1
"""The time of a search grows by another factor from n to n + 1 than in the benchmarks: by up to a tenth."""
TABLE_ERROR = 10.0
"""Other devices of a kind are faster or slower than those of the benchmarks, by up to this factor."""
DRAWN = 3
"""Tasks that are timed together; the times of those of one plan deviate by a fifth from their mean."""
WORK_OF_A_GPU = 4.0**8
"""Work that takes a GPU seconds, as a multiple of what a core does in moments."""
GROWTH_OF_A_SUM = 4.0
"""Factor in the work of a sum from n to n + 1."""


_measured: dict[tuple[Problem, str, Device], Speed] = {}
"""What this process has measured: a depth, a forecast and a limit ask in turn."""


@dataclass(frozen=True)
class Speed:
    """How long the work of a method takes on one device."""

    seconds: float  # per unit of work, at the problem that showed it
    error: float = 1.0  # the factor by which the seconds may be wrong, either way
    method: Method | None = None
    problem: Problem | None = None  # that showed it; None: a number of units of work is all that can be asked

    def expected(self, what: Problem | float) -> float:
        """Expected seconds of the whole count of a problem, or of some units of work."""
        if not isinstance(what, Problem):
            return self.seconds * what
        assert self.method is not None
        assert self.problem is not None
        growth = self.method.speeds.forecast(what.copies).growth
        if growth is None:
            return self.seconds * whole_work(what, self.method)
        return self.seconds * whole_work(self.problem, self.method) * float(growth) ** (what.n - self.problem.n)

    @property
    def longest(self) -> Speed:
        """The slowest that it may be."""
        return replace(self, seconds=self.seconds * self.error, error=1.0)

    def of_plan(self, plan: Plan) -> Speed:
        """The same for the units of work of one plan."""
        return replace(self, seconds=self.expected(plan.problem) / float(plan.work.sum()), problem=plan.problem)


def expected_seconds(choices: Sequence[tuple[Problem, Method]], devices: Sequence[Device]) -> dict[Problem, float]:
    """Expected seconds of each problem by its method, on devices that compute at the same time.

    They follow from the speed of each method at its largest problem.  Short counts are not measured: 0 for one that
    is not in the table either.
    """
    expected: dict[Problem, float] = {}
    for method in {method.name: method for _, method in choices}.values():
        problems = [problem for problem, each in choices if each.name == method.name]
        long = [problem for problem in problems if not is_short(problem, method, devices[0])]
        shown = speed_of(max(long, key=lambda problem: problem.n), method, devices[0]) if long else None
        for problem in problems:
            speed = shown if problem in long else tabled(problem, method, devices[0].kind)
            expected[problem] = 0.0 if speed is None else speed.expected(problem) / len(devices)
    return expected


def known_speed(problem: Problem, method: Method, device: Device) -> Speed | None:
    """The speed at a problem; None where its count is short.  Raises as :func:`speed_of`."""
    return None if is_short(problem, method, device) else speed_of(problem, method, device)


def speed_here(plan: Plan, devices: Sequence[Device]) -> Speed | None:
    """The speed of a plan's work on one of these devices; None on a GPU, which its workers need."""
    if not devices[0].on_cores:
        return None
    known = known_speed(plan.problem, plan.method, devices[0])
    return Speed(0.0) if known is None else known.of_plan(plan)


def is_short(problem: Problem, method: Method, device: Device) -> bool:
    """Whether a count takes less time than a measurement of its speed, by the table."""
    start = method.speeds.forecast(problem.copies)
    if device.on_cores:
        return problem.n <= start.instant
    return (start.growth or GROWTH_OF_A_SUM) ** (problem.n - start.instant) < WORK_OF_A_GPU


def speed_of(problem: Problem, method: Method, device: Device) -> Speed:
    """The speed of a method at a problem, measured once, else from the table.

    Raises NoGpu where the device is missing and not in the table, and what Plan.evaluator raises.
    """
    key = problem, method.name, device
    if key not in _measured:
        try:
            _measured[key] = measured(problem, method, device)
        except NoGpu:
            known = tabled(problem, method, device.kind)
            if known is None:
                raise
            return known
    return _measured[key]


def tabled(problem: Problem, method: Method, device_kind: str) -> Speed | None:
    """The speed on the devices of the benchmarks, at the problem that is nearest in size; None: there is none.

    A search tries every place for holes that may be anywhere, which no benchmark has.
    """
    start = method.speeds.forecast(problem.copies)
    if problem.loose and start.growth is not None:
        return None
    known = {Problem.parse(name): seconds for name, seconds in start.counted.get(device_kind, ())}
    if not known:
        return None
    counted = min(known, key=lambda each: (abs(problem.n - each.n), -each.n))
    seconds = known[counted]
    further = abs(problem.n - counted.n) if start.growth is not None else 0
    error = TABLE_ERROR * GROWTH_ERROR**further
    return Speed(seconds / whole_work(counted, method), error, method, counted)


def measured(problem: Problem, method: Method, device: Device) -> Speed:
    """The speed of a method, from the first tasks that take long enough to show it; they are made ever larger.

    Raises what Plan.evaluator raises.
    """
    speed, further = None, 0
    for plan, tasks in _samples(problem, method, device):
        try:
            evaluator = plan.evaluator(device)
        except BadDepth:  # tasks that are larger still do not fit either
            if speed is None:
                raise
            break
        times: list[float] = []
        most = ENOUGH_SECONDS if device.on_cores else LONG_SECONDS
        # The first time includes what is made once: tables and buffers.
        while not times or (len(times) <= TIMES and sum(times) < most):
            began = device.clock()
            for task in tasks:
                evaluator.evaluate(task)
            times.append(device.clock() - began)
        if method.unit == "nodes":
            further = max(0, problem.n - plan.problem.n)
        seconds = min(times) / float(plan.work[tasks].sum())
        speed = Speed(seconds, GROWTH_ERROR**further, method, plan.problem)
        if min(times) >= ENOUGH_SECONDS * len(tasks):
            break
    assert speed is not None, "every method has a depth that its evaluator takes"
    return speed


def _samples(problem: Problem, method: Method, device: Device) -> Iterator[tuple[Plan, list[int]]]:
    """(plan, tasks of it) that show the speed, with ever larger tasks.

    A core is timed at a smaller problem, and searches the whole of it.  No task of the problem itself is evaluated
    by a search unless those of smaller ones are short: it may take years.
    """
    start = method.speeds.forecast(problem.copies)
    first = min(problem.n, start.probe)
    if start.growth is not None:
        for n in range(first, first + 1 if device.on_cores else problem.n + 1):
            sized = _smaller(problem, n)
            plan = method.plan(sized, method.suggested_depth(sized))
            yield plan, list(plan.tasks) if device.on_cores else [int(plan.work.argmax())]
        return
    probe = _smaller(problem, first) if device.on_cores else problem
    deep = small_tasks(probe, method, start.points) if device.on_cores else method.suggested_depth(problem)
    random, depths = Random(probe.n), method.best_depths(probe)
    for depth in sorted((each for each in depths if each <= max(deep, depths[0])), reverse=True):
        plan = method.plan(probe, depth)
        yield plan, [random.choice(plan.tasks) for _ in range(DRAWN)]


def _smaller(problem: Problem, n: int) -> Problem:
    return problem if problem.n <= n else problem.resized(n)


def small_tasks(probe: Problem, method: Method, points: float | None) -> int:
    """The depth whose tasks have this number of points, or fewer if there is none with tasks of that size."""
    depths = method.best_depths(probe)
    if points is None:
        return int(depths[-1] // 2 // 4 * 4)
    return next((depth for depth in depths if method.plan(probe, depth).work.max() <= points), depths[-1])


@lru_cache(maxsize=256)
def whole_work(problem: Problem, method: Method) -> float:
    """The work of the whole count, in the method's unit."""
    return float(method.plan(problem, method.suggested_depth(problem)).work.sum())
