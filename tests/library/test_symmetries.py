"""Orbits of components against the closure of a set."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from langford.kernels.symmetries import orbits, prefix_classes, representatives
from langford.methods.polyphase.components import components
from langford.problem import Problem
from tests.support.brute_force import orbit

LENGTHS = st.integers(1, 32)


def masks(length: int, alternating: bool, negating: bool) -> tuple[int, int]:
    """(alternation, negation); there is no alternation without negation."""
    negation = (1 << length) - 1
    flipped = [(bit // 2 if bit % 2 == 0 else length - 1 - bit // 2) % 2 for bit in range(length)]
    alternation = sum(flip << length - 1 - bit for bit, flip in enumerate(flipped))
    return (alternation if alternating and negating else 0), (negation if negating else 0)


@given(LENGTHS, st.booleans(), st.booleans(), st.data())
def test_orbits(length: int, alternating: bool, negating: bool, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, (1 << length) - 1), min_size=1, max_size=8))
    both = masks(length, alternating, negating)
    smallest, sizes = orbits(np.array(chosen), length, *both)
    expected = [orbit(each, length, *both) for each in chosen]
    assert smallest.tolist() == [min(each) for each in expected]
    assert sizes.tolist() == [len(each) for each in expected]


@given(st.integers(0, 5), st.booleans(), st.booleans())
def test_classes_cover_every_prefix_once(half: int, alternating: bool, negating: bool) -> None:
    both = masks(2 * half, alternating, negating)
    prefixes, sizes = prefix_classes(2 * half, *both)
    images = [orbit(each, 2 * half, *both) for each in prefixes.tolist()]
    assert [len(each) for each in images] == sizes.tolist()
    assert set().union(*images) == set(range(1 << 2 * half))
    assert sizes.sum() == 1 << 2 * half


@given(st.integers(1, 10), st.booleans(), st.data())
def test_representatives_are_the_smallest(length: int, negating: bool, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, (1 << length) - 1))
    count = data.draw(st.integers(1, (1 << length) - start))
    alternation, negation = masks(length, True, negating)
    found = representatives(start, count, length, alternation, negation)
    expected = [
        (each, len(own), min(orbit(each, length, alternation, negation)))
        for each in range(start, start + count)
        if min(own := orbit(each, length, 0, negation)) == each
    ]
    assert [tuple(row) for row in np.stack(found, axis=1).tolist()] == expected


def test_the_mask_of_alternation_flips_elements_of_odd_index() -> None:
    for n in (7, 8, 11, 12, 15, 16):
        split = components(Problem.langford(n))
        assert split.alternation(split.u_length) == masks(split.u_length, True, True)[0]
