"""Carry-save accumulation against Python's integers, up to and at its bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from langford.arithmetic import limbs
from langford.arithmetic.limbs import SPREAD_BOUND
from langford.kernels.cpu.carry_save import add_words, make_room, spread_carries
from langford.methods import METHODS
from langford.methods.polyphase.cpu import PolyphaseOnCpu
from langford.methods.polyphase.plan import PolyphasePlan
from langford.methods.shifted.cpu import ShiftedOnCpu
from langford.methods.shifted.plan import ShiftedPlan
from langford.problem import Problem

WORDS = 3
TERMS = st.integers(-(2**191), 2**191 - 1)


def words_of(value: int) -> tuple[int, ...]:
    """Two's-complement int64 words, little endian."""
    raw = (value % 2 ** (64 * WORDS)).to_bytes(8 * WORDS, "little")
    return tuple(np.frombuffer(raw, np.int64).tolist())


@given(st.lists(st.tuples(TERMS, st.integers(-64, 64))))
def test_sums_are_exact(terms: list[tuple[int, int]]) -> None:
    total, unused = limbs.zero(2**250), limbs.zero(2**100)
    pending = 0
    for value, weight in terms:
        pending = make_room(total, unused, abs(weight), pending)
        add_words(total, words_of(value), 0, WORDS, weight)
    assert limbs.to_int(total) == sum(value * weight for value, weight in terms)


@pytest.mark.parametrize("value", [2**191 - 1, -(2**191), -1, 2**160 - 1, -(2**64)])
@pytest.mark.parametrize("sign", [1, -1])
def test_bound_is_safe_and_reached(value: int, sign: int) -> None:
    # Start from limbs just after a spread, as full as they can be.
    total = limbs.zero(2**250)
    add_words(total, words_of(2**190 - 1), 0, WORDS, 1)
    spread_carries(total)
    before = limbs.to_int(total)
    add_words(total, words_of(value), 0, WORDS, sign * SPREAD_BOUND)
    assert limbs.to_int(total) == before + sign * SPREAD_BOUND * value


def test_beyond_the_bound_carries_are_spread() -> None:
    total, residues = limbs.zero(2**250), limbs.zero(2**100)
    pending = make_room(total, residues, SPREAD_BOUND, 0)
    assert pending == SPREAD_BOUND
    total[0] = 2**62
    assert make_room(total, residues, 1, pending) == 1
    assert total[0] == 0
    assert limbs.to_int(total) == 2**62


@pytest.mark.parametrize("method", ["polyphase", "shifted"])
def test_kernels_spread_the_carries_of_full_limbs(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # As after 2^31 terms, which take minutes.
    plan, full = METHODS[method].plan(Problem.langford(11), 0), 2**63 - 2**32
    assert isinstance(plan, PolyphasePlan | ShiftedPlan)
    processor = PolyphaseOnCpu(plan) if isinstance(plan, PolyphasePlan) else ShiftedOnCpu(plan)
    kernel = processor._kernel  # noqa: SLF001

    def from_full_limbs(*arguments: Any) -> Any:
        *others, total, residues, _ = arguments
        numbers = [np.zeros_like(total), np.zeros_like(residues)]
        empty = [number.copy() for number in numbers]
        for number in numbers:
            number[0] = full
        found = kernel(*others, *empty, 0)
        assert kernel(*others, *numbers, SPREAD_BOUND) == found
        assert [limbs.to_int(number) - full for number in numbers] == [limbs.to_int(number) for number in empty]
        assert numbers[0][0] < 2**62
        return found

    monkeypatch.setattr(processor, "_kernel", from_full_limbs)
    processor.evaluate(0)


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=8))
def test_spreading_keeps_the_value(values: list[int]) -> None:
    number = np.array([*values, 0], np.int64)
    before = limbs.to_int(number)
    spread_carries(number)
    assert limbs.to_int(number) == before
    assert all(0 <= limb < 2**32 for limb in number[:-1].tolist())


@given(st.integers(1, 2**300) | st.integers(1, 300).flatmap(lambda bits: st.sampled_from([2**bits - 1, 2**bits])))
@example(2**64 - 1)
@example(2**63)
def test_limbs_hold_the_bound(bound: int) -> None:
    count = limbs.limb_count(bound)
    assert count % 2 == 0
    assert bound < 2 ** (32 * count - 1)
    assert count == 2 or bound >= 2 ** (32 * (count - 2) - 1)
