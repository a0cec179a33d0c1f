"""Partial results: exact integers with the data that checks them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langford.arithmetic.residue import residue, trailing_zeros
from langford.errors import CheckFailed, LangfordError

MAX_NUMBER = 200
"""Characters of a number: the partial sums of all problems that a method takes have fewer than half as many."""
DECIMAL = re.compile(r"-?[0-9]+")


class BadText(LangfordError):
    """A text is not an integer in decimal digits."""


@dataclass(frozen=True, slots=True)
class PartialResult:
    """The contribution of one task.

    Attributes:
        index: the task's index within its plan.
        value: the exact partial sum (algebraic methods) or count (backtracking).
        residue: value mod 2^64 − 1, accumulated independently by the kernel.
        evaluated: products, that is points at which the product of all factors was computed; or nodes visited.
    """

    index: int
    value: int
    residue: int
    evaluated: int

    def to_text(self) -> dict[str, str]:
        """The numbers that can exceed 64 bits, as decimal text by name: what ledgers, exports and messages hold.

        >>> PartialResult(7, 2**64, 1, 5).to_text()
        {'value': '18446744073709551616', 'residue': '1', 'evaluated': '5'}
        """
        return {"value": str(self.value), "residue": str(self.residue), "evaluated": str(self.evaluated)}

    @classmethod
    def from_text(cls, index: int, value: str, residue: str, evaluated: str) -> PartialResult:
        """The inverse of :meth:`to_text`; raises BadText.

        Args:
            index: of the task.
            value, residue, evaluated: in decimal digits.
        """
        work = _integer(evaluated)
        if work < 0:
            raise BadText(f"task {index} evaluated {work} products or nodes: the number cannot be negative")
        return cls(index, _integer(value), _integer(residue), work)


def _integer(text: str) -> int:
    if not isinstance(text, str) or len(text) > MAX_NUMBER or not DECIMAL.fullmatch(text):
        raise BadText(f"expected an integer as decimal text, not {text!r:.60}")
    return int(text)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A task's result with its history."""

    result: PartialResult
    seconds: float  # computing time
    provenance: str  # where it comes from, JSON: host, device, kernels, versions
    # When the computing began, in seconds since 1970 by the clock of its machine; None: unknown
    began: float | None = None

    def to_document(self) -> dict[str, Any]:
        """The evaluation as one object of JSON, its large numbers as text."""
        return {
            "index": self.result.index,
            **self.result.to_text(),
            "seconds": self.seconds,
            "provenance": self.provenance,
            "began": self.began,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Evaluation:
        """The inverse of :meth:`to_document`; raises BadText or KeyError."""
        numbers = {name: document[name] for name in ("index", "value", "residue", "evaluated")}
        return cls(
            PartialResult.from_text(**numbers), document["seconds"], document["provenance"], document["began"]
        )


@dataclass(frozen=True)
class Expectation:
    """Conditions that a correct partial result satisfies (necessary, not sufficient)."""

    # An algebraic sum over all values of m free variables is a multiple of 2^m; what remains of that after
    # the factors taken out
    zero_bits: int
    # lowest, highest: inclusive bounds
    lowest: int
    highest: int
    # Of the task, the largest number of products; None: unknown, as the nodes of a search are
    points: int | None = None

    def check(self, result: PartialResult) -> None:
        """Raises CheckFailed, naming the task and the check, when a result cannot be right.

        Args:
            result: of the task that this is expected of.
        """
        where = f"task {result.index}"
        if residue(result.value) != result.residue:
            raise CheckFailed(
                f"{where}: the sum is {residue(result.value)} mod 2^64-1 but its residue is "
                f"{result.residue}; evaluate the task again"
            )
        if result.value and trailing_zeros(result.value) < self.zero_bits:
            raise CheckFailed(
                f"{where}: the sum ends in {trailing_zeros(result.value)} zero bits, but its free "
                f"signs force {self.zero_bits}; evaluate the task again"
            )
        if not self.lowest <= result.value <= self.highest:
            raise CheckFailed(
                f"{where}: {result.value} is outside {self.lowest}..{self.highest}; evaluate the task again"
            )
        if self.points is not None and result.evaluated > self.points:
            raise CheckFailed(
                f"{where}: {result.evaluated} products were evaluated, but it has only {self.points} points; "
                "evaluate the task again"
            )
