"""The signs of the shifted sums: frozen for each version, the same on every machine."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from langford.methods.shifted.factors import Differences, Sums
from langford.methods.shifted.forms import Forms
from langford.problem import Problem

FROZEN = {
    (Sums, Problem.langford(28)): "b9ea88108f3261f2",
    (Sums, Problem.named("hooked-skolem", 26)): "ceba30f45922d532",
    (Differences, Problem.langford(28)): "d204510f25c74e7e",
    (Differences, Problem.named("hooked-skolem", 26)): "16f894829885bf9e",
}
"""Digests of the factors for seed 7.  They must never change: results of ledgers and exports depend on them."""


def digest(forms: Forms) -> str:
    listed = [[form.difference, sorted(form.signs.items()), form.constant] for form in forms.all]
    return sha256(json.dumps(listed).encode()).hexdigest()[:16]


@pytest.mark.parametrize(("forms", "problem"), FROZEN, ids=str)
def test_signs_are_frozen(forms: type[Forms], problem: Problem) -> None:
    assert digest(forms(problem, 7)) == FROZEN[forms, problem]


def test_another_seed_has_other_signs() -> None:
    assert len({digest(Differences(Problem.skolem(8), seed)) for seed in range(4)}) == 4
