"""What the CPU kernel of the shifted sum takes: how wide its numbers get, and arrays that describe a part of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from langford.errors import MethodDoesNotApply
from langford.methods.shifted.components import outer_count
from langford.methods.shifted.forms import Form, Forms, element, half_forms

MAX_N = 32
MAX_ROW = 124
"""Places: the elements of a component and one more fit 63 bits, sign left out."""
MAX_LAG = 62
"""A longer one has no terms, and a shift by it would be undefined."""


@dataclass(frozen=True)
class ShiftedShape:
    """Widths of numbers in the CPU kernel.

    Attributes:
        lanes: bytes that hold the values of all odd forms of a point, or of all even ones; unused ones hold 1.  The
            kernel has them compiled in.
        reach: no |q(u)| or |q(v)| of an even form exceeds it.
    """

    lanes: int
    reach: int

    @classmethod
    def of(cls, forms: Forms) -> ShiftedShape:
        """Raises MethodDoesNotApply when the kernel cannot hold a number of this problem."""
        problem = forms.problem
        if problem.copies != 2:
            raise MethodDoesNotApply("the algebraic methods count pairs only")
        if problem.loose > 1:
            raise MethodDoesNotApply("it counts rows with at most one empty place that is not given")
        _require(problem.n <= MAX_N, f"at most {MAX_N} colours")
        _require(problem.places <= MAX_ROW, f"a row of at most {MAX_ROW} places")
        # A factor of an odd and one of an even form are multiplied in 16 bits, two such products in 32, four in 64.
        largest = max((form.bound for form in forms.all), default=0)
        _require(largest**2 < 2**15, "the product of two factors in 16 bits")
        halves = [half for form in forms.even for half in half_forms(form)]
        reach = max((half.bound for half in halves), default=0)
        _require(reach < 64, "half an even factor in 7 bits")
        lanes = 16 if max(len(forms.odd), len(forms.even)) <= 16 else 32
        return cls(lanes, reach)


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise MethodDoesNotApply(f"shifted needs {what}, which this problem exceeds")


class ShiftedUBlock(NamedTuple):
    """Some u's, in an order in which neighbours share as many even values as possible.

    Attributes:
        us: int64[u's], natural masks.
        evens: int8[u's, lanes], q(u) of each even form, 0 in unused lanes.
        rows: int16[u's, even forms], the row of a tile's even table that has the v's whose q(v) is −q(u).
        changed: int64[u's], the first stage whose rows are not those of the u before.
    """

    us: NDArray[np.int64]
    evens: NDArray[np.int8]
    rows: NDArray[np.int16]
    changed: NDArray[np.int64]


class ShiftedTile(NamedTuple):
    """The tables of 2^bits packed v's that follow each other.

    Attributes:
        bits: how many v's, as a power of two.
        fixed: natural mask of the elements that are −1 in all of them.
        free: natural mask of the elements that differ among them.
        beyond: uint64[words], bit x set where there is no v number x (fewer than 2^INNER_BITS v's).
        even_rows: uint64[rows, words], bit x of row 1 + form · values + reach + q set where the v number x has
            that q; row 0 has none.
        keys: int8[2^bits, lanes], q(v) of each even form, 1 in unused lanes.
    """

    bits: int
    fixed: int
    free: int
    beyond: NDArray[np.uint64]
    even_rows: NDArray[np.uint64]
    keys: NDArray[np.int8]


class OddMasks(NamedTuple):
    """The odd forms as linear forms of v.

    For fixed u the coefficient of v_k is the sum of two signs: of its neighbours u_{k−e} and u_{k+e+1}, or of
    the only neighbour and the sign that ℓ_d has at v_k.  It is −2, 0 or 2.  In the factor of a hole both neighbours
    are places beyond the row, whose signs are +1: the coefficient is 2.

    Attributes:
        forms: how many there are.
        masks: int64[7 · lanes], for each form: e, for d = 2e+1; the elements of v with a neighbour u_{k−e}, and
            those with one u_{k+e+1}; the elements of v with one neighbour and a sign −1 in ℓ_d; the elements of u
            that ℓ_d has, and those with a sign −1; c_d.  A lane without a form has the constant 4 and no element.
        order: int64[elements], the element of v at each packed bit.
        gaps: int64[·], elements below v's last one that are not filled, from the highest.
        inner: how many filled elements of v precede the inner ones.
        mirror: element k of v read backwards is element mirror − k.
    """

    forms: int
    masks: NDArray[np.int64]
    order: NDArray[np.int64]
    gaps: NDArray[np.int64]
    inner: int
    mirror: int

    @classmethod
    def of(cls, forms: Forms, prefix: int, inner: int, lanes: int) -> OddMasks:
        """The odd forms, and v packed as tasks need it that fix ``prefix`` elements."""
        masks = np.zeros((7, lanes), np.int64)
        masks[6] = 4
        for lane, form in enumerate(forms.odd):
            masks[:, lane] = _odd_masks(form)
        split = forms.components
        order = np.array(split.v_order(prefix, inner), np.int64)
        before = (outer_count(len(split.v), prefix, inner) + 1) // 2
        gaps = np.array(split.gaps(), np.int64)
        mirror = split.v[0] + split.v[-1] if split.v else 0
        return cls(len(forms.odd), masks.reshape(-1), order, gaps, before, mirror)


def _odd_masks(form: Form) -> tuple[int, ...]:
    """The numbers of one odd form, in the order of OddMasks."""
    beyond = sum(1 << element(place) for place, sign in form.signs.items() if sign == 2)
    left = beyond | sum(1 << element(j) for i, j in form.pairs if i % 2)
    right = beyond | sum(1 << element(i) for i, j in form.pairs if j % 2)
    negative, u_negative = (
        sum(1 << element(place) for place, sign in form.signs.items() if sign < 0 and place % 2 == parity)
        for parity in (0, 1)
    )
    u_once = sum(1 << element(place) for place in form.signs if place % 2)
    lag = min(form.difference // 2, MAX_LAG)
    return lag, left, right, negative, u_once, u_negative, form.constant
