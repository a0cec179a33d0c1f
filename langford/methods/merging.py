"""From partial results to the exact count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from langford.errors import CheckFailed, Incomplete
from langford.methods.plan import Plan
from langford.problem import Problem
from langford.problem.congruences import Congruence, mirror_congruence, unit_congruences
from langford.result import PartialResult
from langford.words import portion, several


class Check(str):
    """A check that passed, in words.

    Attributes:
        brief: the same in a few words; empty: there was nothing to check.
    """

    brief: str

    def __new__(cls, words: str, brief: str | None = None) -> Check:
        check = super().__new__(cls, words)
        check.brief = words if brief is None else brief
        return check


@dataclass(frozen=True, eq=False, repr=False)
class Count(int):
    """A merged count: the published number, with what it comes from.

    >>> count = Count(Problem.langford(8), 300, 150, 1, 131072, ())
    >>> count, count + 1, f"{count:,}"
    (<Count L(2,8) = 150>, 151, '150')

    Attributes:
        problem: what was counted.
        arrangements: all arrangements, mirror images counted separately.
        published: the number as the literature counts it (see Problem.published).
        tasks: partial results merged.
        evaluated: products or nodes over all tasks.
        checks: the checks passed.
    """

    problem: Problem
    arrangements: int
    published: int
    tasks: int
    evaluated: int
    checks: tuple[Check, ...]

    def __new__(cls, problem: Problem, arrangements: int, published: int, *others: object, **more: object) -> Count:
        return super().__new__(cls, published)

    def __getnewargs__(self) -> tuple[object, ...]:  # type: ignore[override]  # those of __new__, not of int
        return self.problem, self.arrangements, self.published

    def __repr__(self) -> str:
        return f"<Count {self.problem} = {self}>"

    def __str__(self) -> str:
        return int.__repr__(self)


def merge(plan: Plan, results: Iterable[PartialResult]) -> Count:
    """Merge the partial results of all tasks into the exact count.

    Args:
        plan: of the tasks.
        results: one of every task, in any order; they are read once.

    Raises:
        Incomplete: a task has no result.
        CheckFailed: a result fails its own checks, a task has two results, or the total is
            not the non-negative multiple that the symmetries force.
    """
    tasks = len(plan.work)
    # A million results are not kept: each is checked and added as it comes.
    seen, total, evaluated, zeros = bytearray(tasks), 0, 0, set[int]()
    for result in results:
        expectation = plan.expectation(result.index)
        expectation.check(result)
        if seen[result.index]:
            raise CheckFailed(f"task {result.index} has two results; keep one")
        seen[result.index] = 1
        total += result.value
        evaluated += result.evaluated
        zeros.add(expectation.zero_bits)
    missing = tasks - sum(seen)
    if missing:
        raise Incomplete(f"{portion(missing, len(plan.work), 'task')} no result yet; run them first")
    arrangements, rest = divmod(total, plan.multiplier)
    _require(
        not rest and arrangements >= 0,
        f"the partial sums add up to {total}, which is not {plan.multiplier} times a count",
    )
    problem, symmetry = plan.problem, mirror_congruence(plan.problem)
    if symmetry is not None:
        _require(symmetry.holds(arrangements), _broken(problem, arrangements, symmetry))
    checks = [
        Check(f"{tasks} of {several(tasks, 'task')}, each once", "every task once"),
        Check("residues mod 2^64-1 agree", "residues"),
    ]
    if min(zeros, default=0) > 0:
        ends = f"every partial sum ends in {min(zeros)} zero bits or more, as its task requires"
        checks.append(Check(ends, "zero bits"))
    elif not any(zeros) and plan.method.unit == "points":
        checks.append(Check("no zero bits to check: this sum forces none", ""))
    if plan.multiplier > 1:
        checks.append(Check(f"total divisible by {plan.multiplier}", f"divisible by {plan.multiplier}"))
    if symmetry is not None and symmetry.modulus > 1:
        checks.append(_kept(problem, symmetry))
    count = problem.published(arrangements)
    units = unit_congruences(problem)
    for each in units:
        required = f"but its symmetries require {each.remainder}"
        _require(
            each.holds(count), f"{problem} = {count:,} is {count % each.modulus} mod {each.modulus}, {required}"
        )
        checks.append(Check(f"count is {each.words}, as a unit of order {each.modulus} requires", each.words))
    # Without a hole, the modulus of the mirror divides the total, not the count.
    mirror = symmetry.modulus if symmetry is not None and problem.circle and problem.empty else 1
    passes = mirror * prod(each.modulus for each in units)
    if passes > 1:
        checks.append(Check(f"one wrong count in {passes} passes these congruences", ""))
    return Count(problem, arrangements, count, tasks, evaluated, tuple(checks))


def _require(holds: bool, failure: str) -> None:
    if not holds:
        raise CheckFailed(
            f"{failure}: at least one result is wrong; evaluate a sample of tasks again with another method"
        )


def _broken(problem: Problem, arrangements: int, symmetry: Congruence) -> str:
    if not problem.circle:
        return f"{arrangements} arrangements do not pair up with their mirror images"
    if not problem.empty:
        return f"{arrangements} arrangements on a circle do not come in sets of {symmetry.modulus} images"
    return f"{arrangements} arrangements on a circle should be {symmetry.words}, by its symmetries"


def _kept(problem: Problem, symmetry: Congruence) -> Check:
    if not problem.circle:
        return Check("mirror images pair up", "mirror pairs")
    if not problem.empty:
        total = f"total divisible by {symmetry.modulus} rotations and reflections"
        return Check(total, "rotations and reflections")
    return Check(f"count is {symmetry.words}, as the symmetries of the circle require", symmetry.words)
