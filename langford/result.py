"""Partial results: an exact integer with what is needed to doubt it."""

from __future__ import annotations

from dataclasses import dataclass

from langford.arithmetic.limbs import trailing_zeros
from langford.arithmetic.residue import MODULUS, residue
from langford.errors import CheckFailed


@dataclass(frozen=True)
class PartialResult:
    """What one task contributes.

    Attributes:
        index: the task's index within its plan.
        value: the exact partial sum (algebraic methods) or count (backtracking).
        residue: value mod 2^64 − 1, accumulated independently by the kernel.
        evaluated: work done: points that needed a product, or nodes visited.
    """

    index: int
    value: int
    residue: int
    evaluated: int


@dataclass(frozen=True)
class Evaluation:
    """A task's result, the computing time in seconds and where it comes from (JSON)."""

    result: PartialResult
    seconds: float
    provenance: str


@dataclass(frozen=True)
class Expectation:
    """What a correct partial result must satisfy (necessary, not sufficient).

    Attributes:
        zero_bits: an algebraic sum over all values of m free variables is a multiple of
            2^m; what remains of that after the factors taken out.
        lowest, highest: inclusive bounds.
    """

    zero_bits: int
    lowest: int
    highest: int

    def check(self, result: PartialResult) -> None:
        """Raises CheckFailed, naming the task and the check, when ``result`` cannot be right."""
        where = f"task {result.index}"
        if not 0 <= result.residue < MODULUS or residue(result.value) != result.residue:
            raise CheckFailed(
                f"{where}: the sum is {residue(result.value)} mod 2^64-1 but its residue says "
                f"{result.residue}; evaluate the task again"
            )
        if result.value and trailing_zeros(result.value) < self.zero_bits:
            raise CheckFailed(
                f"{where}: the sum ends in {trailing_zeros(result.value)} zero bits, its free "
                f"variables force {self.zero_bits}; evaluate the task again"
            )
        if not self.lowest <= result.value <= self.highest:
            raise CheckFailed(
                f"{where}: {result.value} is outside {self.lowest}..{self.highest}; evaluate the task again"
            )
