"""The interface that every counting method implements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic.limbs import exact_sum
from langford.errors import CheckFailed, Incomplete, TaskIndexOutOfRange
from langford.problem import Problem
from langford.result import Expectation, PartialResult


@dataclass(frozen=True)
class Count:
    """A merged count.

    Attributes:
        arrangements: all arrangements, mirror images counted separately.
        published: the number as the literature counts it (see Problem.published).
        tasks: partial results merged.
        evaluated: points or nodes over all tasks.
        checks: the checks passed, in words.
    """

    arrangements: int
    published: int
    tasks: int
    evaluated: int
    checks: tuple[str, ...]


@dataclass(frozen=True)
class PlanKey:
    """The identity of a plan: small, picklable, the same on every machine."""

    problem: Problem
    method: str
    depth: int

    @property
    def name(self) -> str:
        """A short unique name, like "langford-12-polyphase-8": what a campaign of the plan is called by default."""
        return f"{self.problem.name}-{self.method}-{self.depth}"

    def __str__(self) -> str:
        return f"{self.problem.name} by {self.method} at depth {self.depth}"


class Plan(Protocol):
    """One problem, split by one method at one depth into independent tasks."""

    problem: Problem
    method: str
    depth: int
    multiplier: int
    """The sum of all partial values is ``multiplier`` times the number of arrangements."""

    work: NDArray[np.float64]
    """Estimated work of each task, float64[tasks], in the method's unit."""

    def warm_up(self) -> None:
        """Compile the kernels, or load them from the cache."""
        ...

    def evaluate(self, index: int) -> PartialResult:
        """The partial result of one task; raises TaskIndexOutOfRange."""
        ...

    def expectation(self, index: int) -> Expectation:
        """What a correct result of the task satisfies; raises TaskIndexOutOfRange."""
        ...


class Method(Protocol):
    """A way to count: says where it applies and plans tasks."""

    name: str
    unit: str
    """What ``Plan.work`` and ``PartialResult.evaluated`` count: "points" or "nodes"."""

    def refusal(self, problem: Problem) -> str | None:
        """Why the method cannot count this problem, or None when it can."""
        ...

    def depths(self, problem: Problem) -> range:
        """The task depths p that :meth:`plan` accepts."""
        ...

    def suggested_depth(self, problem: Problem) -> int:
        """A depth whose tasks take about a second to a minute each on one core."""
        ...

    def plan(self, problem: Problem, depth: int) -> Plan:
        """Split the problem; raises MethodDoesNotApply or BadDepth."""
        ...


def require_index(plan: Plan, index: int) -> None:
    """Raises TaskIndexOutOfRange unless 0 ≤ index < number of tasks."""
    if not 0 <= index < len(plan.work):
        raise TaskIndexOutOfRange(
            f"task {index} is not one of the {len(plan.work)} tasks (0..{len(plan.work) - 1}) of "
            f"{plan.problem.name} by {plan.method} at depth {plan.depth}"
        )


def largest_first(plan: Plan) -> list[int]:
    """The tasks in the order that leaves the least to wait for at the end."""
    return sorted(range(len(plan.work)), key=lambda index: -plan.work[index])


def merge(plan: Plan, results: Iterable[PartialResult]) -> Count:
    """Merge one partial result of every task into the exact count.

    Raises:
        Incomplete: a task has no result.
        CheckFailed: a result fails its own checks, a task has two results, or the total is
            not the non-negative multiple that the symmetries force.
    """
    found: dict[int, PartialResult] = {}
    for result in results:
        plan.expectation(result.index).check(result)
        if result.index in found:
            raise CheckFailed(f"task {result.index} has two results; keep one")
        found[result.index] = result
    missing = len(plan.work) - len(found)
    if missing:
        raise Incomplete(f"{missing} of {len(plan.work)} tasks have no result yet; run them first")
    total = exact_sum([result.value for result in found.values()])
    arrangements, rest = divmod(total, plan.multiplier)
    if rest or arrangements < 0:
        raise CheckFailed(
            f"the partial sums add up to {total}, which is not {plan.multiplier} times a count: "
            "at least one result is wrong; evaluate a sample of tasks again with another method"
        )
    published = plan.problem.published(arrangements)
    if plan.problem.mirrored and 2 * published - plan.problem.self_mirrored != arrangements:
        raise CheckFailed(f"{arrangements} arrangements do not pair up with their mirror images")
    zeros = min((plan.expectation(index).zero_bits for index in found), default=0)
    checks = [f"{len(found)} of {len(found)} tasks, each once", "residues mod 2^64-1 agree"]
    if zeros > 0:
        checks.append(f"every partial sum ends in the {zeros} or more zero bits that it must")
    checks.append(f"total divisible by {plan.multiplier}" if plan.multiplier > 1 else "mirror images pair up")
    evaluated = sum(result.evaluated for result in found.values())
    return Count(arrangements, published, len(found), evaluated, tuple(checks))
