"""How wide the numbers of the shifted sum get, and what the CPU kernel is compiled for."""

from __future__ import annotations

from dataclasses import dataclass

from langford.errors import MethodDoesNotApply
from langford.methods.shifted.forms import Forms, half_forms

LARGEST_N = 32
LONGEST_ROW = 124
"""Places: the elements of a component and one more fit 63 bits, sign left out."""
STAGE = 4
"""Even forms whose rows of dead points are joined at once."""
LONGEST_STAGE = 6
"""The same for the last stage, which nearly every u needs anew."""
FEWEST_PAIRS = 3
"""Joint tables of the smallest kernel, which all problems that fit it share: a kernel takes seconds to compile."""


@dataclass(frozen=True)
class Shape:
    """Numbers that the CPU kernel has compiled in.

    Attributes:
        lanes: bytes that hold the values of all odd forms of a point, or of all even ones; unused ones hold 1.
        pairs: joint tables of odd forms.
        stages: groups of even forms, of STAGE each but the last one.
        last: even forms of the last stage; there may be fewer, the others vanish nowhere.
        reach: no |q(u)| or |q(v)| of an even form exceeds it.
    """

    lanes: int
    pairs: int
    stages: int
    last: int
    reach: int

    @classmethod
    def of(cls, forms: Forms) -> Shape:
        """Raises MethodDoesNotApply when the kernel cannot hold a number of this problem."""
        problem = forms.problem
        if problem.copies != 2:
            raise MethodDoesNotApply("the algebraic methods count pairs only")
        _require(problem.n <= LARGEST_N, f"at most {LARGEST_N} colours")
        _require(problem.places <= LONGEST_ROW, f"a row of at most {LONGEST_ROW} places")
        # A factor of an odd and one of an even form are multiplied in 16 bits, two such products in 32, four in 64.
        largest = max((form.bound for form in forms.all), default=0)
        _require(largest**2 < 2**15, "the product of two factors in 16 bits")
        halves = [half for form in forms.even for half in half_forms(form)]
        reach = max((half.bound for half in halves), default=0)
        _require(reach < 64, "half an even factor in 7 bits")
        lanes = 16 if max(len(forms.odd), len(forms.even)) <= 16 else 32
        evens = len(forms.even)
        stages = 1 + max(0, -(-(evens - LONGEST_STAGE) // STAGE))
        last = LONGEST_STAGE if stages == 1 else evens - STAGE * (stages - 1)
        return cls(lanes, max(FEWEST_PAIRS, -(-len(forms.odd) // 2)), stages, last, reach)

    @property
    def even_columns(self) -> int:
        """Even forms that the kernel looks up."""
        return STAGE * (self.stages - 1) + self.last


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise MethodDoesNotApply(f"shifted needs {what}, which this problem exceeds")
