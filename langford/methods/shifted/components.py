"""The geometry of the shifted sum: the signs of the odd places (u) and of the even places (v), as integers.

An *element* is a place of its parity: element k of u is place 2k+1, element k of v is place 2k+2.  A
component is a set of filled elements.  In *natural* form it is a mask with bit k set where element k has
sign −1; in *packed* form the filled elements alone are the bits of an integer, in an order that fixes the
outer ones first (:func:`packing_order`).  For a row with a mirror u is packed in the mirrored order, so that
the mirror of the row exchanges the two packed integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from langford.kernels.symmetries import Integers
from langford.problem import Problem


@dataclass(frozen=True)
class ShiftedComponents:
    """The two components of a problem.

    Attributes:
        u, v: the filled elements of each, ascending.
        exchanged: whether the mirror of the row exchanges u and v.
        reversible: whether, besides, u and v are each a row without gaps, that can be read backwards alone.
    """

    u: tuple[int, ...]
    v: tuple[int, ...]
    exchanged: bool
    reversible: bool

    @classmethod
    def of(cls, problem: Problem, fixed: int | None = None) -> ShiftedComponents:
        """The components of any problem; ``fixed``: a place that has sign +1 throughout and is in neither."""
        free = [place for place in problem.filled if place != fixed]
        u = tuple(place // 2 for place in free if place % 2)
        v = tuple(place // 2 - 1 for place in free if place % 2 == 0)
        exchanged = fixed is None and problem.mirrored and problem.places % 2 == 0
        reversible = exchanged and u[-1] - u[0] + 1 == len(u)
        return cls(u, v, exchanged, reversible)

    @property
    def longest_prefix(self) -> int:
        """Most elements that a task may fix in each component."""
        return min(len(self.u), len(self.v))

    def u_order(self, prefix: int, inner: int) -> list[int]:
        """The element of u at each packed bit, from bit 0; prefix and inner as in :func:`packing_order`."""
        ranks = packing_order(len(self.u), prefix, inner)
        if self.exchanged:
            ranks = [len(self.u) - 1 - rank for rank in ranks]
        return [self.u[rank] for rank in ranks]

    def v_order(self, prefix: int, inner: int) -> list[int]:
        """The element of v at each packed bit, from bit 0."""
        return [self.v[rank] for rank in packing_order(len(self.v), prefix, inner)]

    def gaps(self) -> list[int]:
        """Elements of v below its last one that are not filled, from the highest."""
        return [element for element in range(max(self.v, default=0), -1, -1) if element not in self.v]


def packing_order(length: int, prefix: int, inner: int) -> list[int]:
    """The rank of the element at each packed bit, from bit 0.

    From the top: the first element, the last, the second, … until the ``prefix`` that a task fixes is over
    and at most ``inner`` elements remain; these are the lowest bits, in natural order.
    """
    outer = outer_count(length, prefix, inner)
    from_the_top = [k // 2 if k % 2 == 0 else length - 1 - k // 2 for k in range(outer)]
    middle = range((outer + 1) // 2, length - outer // 2)
    return [*middle, *from_the_top[::-1]]


def outer_count(length: int, prefix: int, inner: int) -> int:
    """How many elements are packed from the outside in."""
    return max(prefix, length - inner)


def natural(packed: Integers, order: list[int]) -> Integers:
    """Packed components as natural masks, int64[·]."""
    masks = np.zeros_like(packed)
    for bit, element in enumerate(order):
        masks |= (packed >> bit & 1) << element
    return masks
