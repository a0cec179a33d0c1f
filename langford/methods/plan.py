"""The parts of a counting method: it plans tasks, and its evaluators evaluate them on a device."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, ClassVar, Protocol

from langford.devices import CPU, Device
from langford.errors import BadDepth, BadSeed, MethodDoesNotApply, TaskIndexOutOfRange, whole
from langford.methods.speeds import Speeds, speeds_of
from langford.problem import Problem
from langford.provenance import kernel_hash
from langford.result import Expectation, PartialResult
from langford.words import several

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_SEED = 2**31 - 1
"""The largest integer that every database can store."""


@dataclass(frozen=True)
class PlanKey:
    """The identity of a plan: small, picklable, the same on every machine.

    >>> key = PlanKey(Problem.langford(12), "polyphase", 8)
    >>> key.name, str(key)
    ('langford-12-polyphase-8', 'L(2,12) by polyphase at depth 8')
    """

    problem: Problem  # what is counted
    method: str  # how, by name
    depth: int  # the task depth p
    seed: int = 0  # which of a method's sums; 0, the default, for a method that has only one

    @property
    def name(self) -> str:
        """A short unique name, like "langford-12-polyphase-8": what a campaign of the plan is called by default."""
        seed = f"-seed-{self.seed}" if self.seed else ""
        return f"{self.problem.name}-{self.method}-{self.depth}{seed}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The plan as arguments of ``langford run``."""
        seed = ("--seed", str(self.seed)) if self.seed else ()
        return *self.problem.arguments, "--method", self.method, "--depth", str(self.depth), *seed

    def __str__(self) -> str:
        seed = f" with seed {self.seed}" if self.seed else ""
        return f"{self.problem} by {self.method} at depth {self.depth}{seed}"


class Evaluator(Protocol):
    """Evaluates the tasks of one plan on one device, its kernels compiled and ready."""

    def evaluate(self, index: int) -> PartialResult:
        """The partial result of one task; raises TaskIndexOutOfRange.

        Args:
            index: of the task, from 0.
        """
        ...


class Plan(ABC):
    """One problem, split by one method at one depth into independent tasks: a description, it computes no sum.

    Attributes:
        method: the method that made the plan.
        problem: what is counted.
        depth: the task depth p.
        seed: which of the method's sums, 0 by default.
        multiplier: the sum of all partial values is ``multiplier`` times the number of arrangements.
        work: estimated work of each task, float64[tasks], in the method's unit.
    """

    multiplier: int
    work: NDArray[np.float64]

    def __init__(self, method: Method, problem: Problem, depth: int, seed: int = 0) -> None:
        """:meth:`Method.plan` makes plans, of choices that it has checked.

        Args:
            method: which splits the problem.
            problem: one that the method can count.
            depth: p, one of the method's depths for it.
            seed: 0 unless the method is ``seeded``.
        """
        self.method, self.problem, self.depth, self.seed = method, problem, depth, seed
        self._evaluators: dict[Device, Evaluator] = {}

    def __repr__(self) -> str:
        return f"<Plan {self.key}, {several(len(self.work), 'task')}>"

    def __reduce__(self) -> tuple[object, tuple[Method, PlanKey]]:
        """Pickled as what it is made of: a process makes the plan once, by :func:`plan_by`."""
        return plan_by, (self.method, self.key)

    @property
    def key(self) -> PlanKey:
        return PlanKey(self.problem, self.method.name, self.depth, self.seed)

    @property
    def tasks(self) -> range:
        """The indices of all tasks."""
        return range(len(self.work))

    def largest_first(self) -> list[int]:
        """The tasks by falling work: in this order the workers finish at nearly the same time."""
        return sorted(self.tasks, key=lambda index: -self.work[index])

    def require(self, index: int) -> None:
        """Raises TaskIndexOutOfRange unless the plan has a task of this index.

        Args:
            index: of the task, from 0.
        """
        if index not in self.tasks:
            raise TaskIndexOutOfRange(
                f"task {index} is not one of the {several(len(self.work), 'task')} (0..{len(self.work) - 1}) of "
                f"{self.key}"
            )

    @abstractmethod
    def expectation(self, index: int) -> Expectation:
        """The conditions on a correct result; raises TaskIndexOutOfRange.

        Args:
            index: of the task, from 0.
        """

    def terms(self, result: PartialResult) -> int | None:
        """The number of non-zero terms of the whole sum that a result covers.

        Their total is the same in every split and on every device.  None: the method searches; the
        number of its nodes depends on both.

        Args:
            result: of one task of this plan.
        """
        return None

    def owners(self, other: Plan) -> NDArray[np.int64] | None:
        """The task of this plan to which each task of another plan belongs, int64[other.tasks].

        The values of the tasks that belong to one add up to its value.  None when the two plans cannot be
        compared task by task: this method does not know how, or the other plan is not as deep.

        Args:
            other: a plan of the same problem.
        """
        import numpy as np

        return np.arange(len(self.work)) if other.key == self.key else None

    def deeper(self) -> Plan | None:
        """The plan of the same method at the next depth; None when there is none."""
        for depth in self.method.depths(self.problem):
            if depth > self.depth:
                try:
                    return self.method.plan(self.problem, depth, self.seed)
                except BadDepth:
                    return None
        return None

    def evaluator(self, device: Device = CPU) -> Evaluator:
        """The evaluator of this plan on a device, compiled and ready, made once.

        Args:
            device: where.

        Raises:
            MethodDoesNotApply: the method has no kernel for this kind of device, or the problem is too
                wide for it.
            BadDepth: the tasks are too large for the device.
            NoGpu: there is no such GPU, or CuPy is missing.
            NoCompiler: the kernels of the GPU cannot be compiled for the processor.
        """
        if device not in self._evaluators:
            self.method.require_kernel(device.kernels)
            self._evaluators[device] = device.evaluator(resolve_name(self.method.evaluators[device.kernels]), self)
        return self._evaluators[device]

    def evaluate(self, index: int, device: str | Device = CPU) -> PartialResult:
        """The partial result of one task, computed here; raises TaskIndexOutOfRange, and as :meth:`evaluator`.

        Args:
            index: of the task, from 0.
            device: a Device, or its name: "cpu", "cuda:1".
        """
        where = Device.parse(device) if isinstance(device, str) else device
        return self.evaluator(where).evaluate(whole("a task", index, TaskIndexOutOfRange))


class Method(ABC):
    """A way to count: where it applies, how it splits a problem, and its evaluators."""

    name: ClassVar[str]  # as the command line and the ledger write it
    unit: ClassVar[str]  # what Plan.work counts, "points" or "nodes"
    # By kind of device, the class of its evaluators, "module:name", imported when needed: it has on(plan, device)
    evaluators: ClassVar[Mapping[str, str]]
    conditions: ClassVar[Collection[str]] = ()  # those of variants that it can require, besides none
    circles: ClassVar[bool] = True  # whether it counts circles
    seeded: ClassVar[bool] = False  # whether a seed chooses among many sums with the same total
    # A later version, by name, which is the faster one wherever it applies; None: there is none
    superseded_by: ClassVar[str | None] = None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    @property
    def kernels(self) -> str:
        """The hash of the code that it counts with: the files of its folder, and what all methods share.

        That of all methods for one that is typed at a prompt: it has no file.
        """
        modules = {each.__module__ for each in type(self).__mro__ if issubclass(each, Method)} - {__name__}
        files = [getattr(sys.modules[module], "__file__", None) for module in sorted(modules)]
        if not all(files):
            return kernel_hash()
        places = {Path(file) for file in files if file}
        return kernel_hash(*sorted(place.parent if place.name == "__init__.py" else place for place in places))

    @property
    def evaluated(self) -> str:
        """What ``PartialResult.evaluated`` counts: "products", to which some of the points come, or "nodes"."""
        return "products" if self.unit == "points" else self.unit

    @property
    def speeds(self) -> Speeds:
        """The measured figures of the method: its tables in ``speeds.toml``.  Raises BadSpeeds."""
        return speeds_of(self.name)

    def refusal(self, problem: Problem) -> str | None:
        """Why the method cannot count a problem, in words; None when it can.

        Args:
            problem: any one.
        """
        if problem.condition and problem.condition not in self.conditions:
            return f"it cannot require that arrangements are {problem.condition}"
        if problem.circle and not self.circles:
            return "it counts rows on a line, not on a circle"
        return self.limit(problem)

    @abstractmethod
    def limit(self, problem: Problem) -> str | None:
        """The limit of the method that a problem exceeds, in words; None: it can count the problem.

        Args:
            problem: of a kind that it counts: without a condition, or with one of ``conditions``.
        """

    @abstractmethod
    def depths(self, problem: Problem) -> range:
        """The task depths p that :meth:`plan` accepts.

        Args:
            problem: one that the method can count.
        """

    def best_depths(self, problem: Problem) -> range:
        """The depths at which the tasks together take the least time; a depth is chosen among these.

        Args:
            problem: one that the method can count.
        """
        return self.depths(problem)

    def fewest_tasks(self, problem: Problem, depth: int) -> int:
        """A lower bound of the number of tasks, computed without a plan.

        Args:
            problem: one that the method can count.
            depth: one of :meth:`depths`.
        """
        return 0

    @abstractmethod
    def suggested_depth(self, problem: Problem) -> int:
        """A depth whose tasks take about a second to a minute each on one core.

        Args:
            problem: one that the method can count.
        """

    @abstractmethod
    def split(self, problem: Problem, depth: int, seed: int) -> Plan:
        """The plan for choices that :meth:`plan` has checked.

        Args:
            problem: one that the method can count.
            depth: one of :meth:`depths`.
            seed: 0 unless the method is ``seeded``.
        """

    def plan(self, problem: Problem, depth: int, seed: int = 0) -> Plan:
        """Split a problem; raises MethodDoesNotApply, BadDepth or BadSeed.

        Args:
            problem: any one.
            depth: p; the number of tasks grows with it.
            seed: chooses one of the method's sums; 0 unless it is ``seeded``.
        """
        reason = self.refusal(problem)
        if reason:
            raise MethodDoesNotApply(f"{self.name} cannot count {problem}: {reason}")
        depths = self.depths(problem)
        if depth not in depths:
            step = "even depths " if depths.step == 2 else "depths "
            raise BadDepth(f"{self.name} splits {problem} at {step}{depths[0]}..{depths[-1]}, not {depth}")
        return self.split(problem, depth, self.chosen_seed(seed or None))

    def chosen_seed(self, seed: int | None) -> int:
        """The seed, checked; raises BadSeed.

        Args:
            seed: None: the default.
        """
        if seed is None:
            return 0
        if not self.seeded:
            raise BadSeed(f"{self.name} has no seed: leave it out, or choose a method that has one")
        if not 0 <= seed <= MAX_SEED:
            raise BadSeed(f"a seed is a number from 0 to {MAX_SEED}, not {seed}")
        return seed

    def require_kernel(self, device_kind: str) -> None:
        """Raises MethodDoesNotApply unless the method has a kernel for a kind of device.

        Args:
            device_kind: "cpu" or "cuda".
        """
        if device_kind not in self.evaluators:
            raise MethodDoesNotApply(
                f"{self.name} has no kernel for {device_kind}, only for {', '.join(self.evaluators)}: "
                "choose another --device or another --method"
            )


@lru_cache(maxsize=4)
def plan_by(method: Method, key: PlanKey) -> Plan:
    """The plan of a method that a key names, with its evaluators; the last few are kept.

    Raises MethodDoesNotApply, BadDepth or BadSeed.
    """
    return method.plan(key.problem, key.depth, key.seed)
