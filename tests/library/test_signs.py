"""The signs of the shifted sums: frozen for each version, the same on every machine, and kept."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from langford.methods.shifted import factors, signs
from langford.methods.shifted.factors import Differences, Sums
from langford.methods.shifted.forms import Forms
from langford.problem import Problem

FROZEN = {
    (Sums, Problem.langford(28)): "b9ea88108f3261f2",
    (Sums, Problem.hooked_skolem(26)): "ceba30f45922d532",
    (Differences, Problem.langford(28)): "d204510f25c74e7e",
    (Differences, Problem.hooked_skolem(26)): "16f894829885bf9e",
}
"""Digests of the factors for seed 7.  They must never change: results of ledgers and exports depend on them."""


def digest(forms: Forms) -> str:
    listed = [[form.difference, sorted(form.signs.items()), form.constant] for form in forms.all]
    return sha256(json.dumps(listed).encode()).hexdigest()[:16]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where signs are kept, empty; also those that take little time to find."""
    monkeypatch.setattr(signs, "kept_in", tmp_path.joinpath)
    monkeypatch.setattr(factors, "MIN_KEPT", 7)
    return tmp_path


@pytest.mark.parametrize(("forms", "problem"), FROZEN, ids=str)
def test_signs_are_frozen(forms: type[Forms], problem: Problem, folder: Path) -> None:
    assert digest(forms(problem, 7)) == FROZEN[forms, problem]


def test_another_seed_has_other_signs() -> None:
    assert len({digest(Differences(Problem.skolem(8), seed)) for seed in range(4)}) == 4


def test_signs_are_kept_and_damaged_ones_found_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.langford(7)
    found = digest(Differences(problem, 3))
    (file,) = folder.glob("signs-*[!k]")
    whole = file.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(factors, "chosen_signs", lambda *_: pytest.fail("found again"))
        assert digest(Differences(problem, 3)) == found
    for damaged in (b"", b"{", b"[]", b'{"signs": 7}', whole.replace(b"-1", b"1", 1), whole[:-1]):
        file.write_bytes(damaged)
        assert digest(Differences(problem, 3)) == found
        assert file.read_bytes() == whole
    # Where none can be kept.
    file.unlink()
    file.mkdir()
    assert digest(Differences(problem, 3)) == found
