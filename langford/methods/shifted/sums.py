"""The factors with sums: S_d as it is, and signs of the linear forms that a seed draws.

The signs are the same at a place and its mirror image where the row has a mirror, and for even d, where u and v
can be read backwards, also at an element and its image in u or v.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from langford.methods.shifted.forms import Form, Forms, random_sign, terms_of
from langford.problem import Problem


@dataclass(frozen=True)
class Sums(Forms):
    """S_d + ℓ_d + c_d, with random signs in ℓ_d."""

    @classmethod
    def outline(cls, problem: Problem) -> Sums:
        return cls(problem, 0)

    @cached_property
    def all(self) -> tuple[Form, ...]:
        return tuple(self._form(d) for d in self.problem.differences)

    def _form(self, d: int) -> Form:
        pairs, once = terms_of(self.problem, d)
        return Form.of(d, pairs, {place: random_sign(self.seed, d, min(self.images(d, place))) for place in once})
