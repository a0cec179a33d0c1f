"""The hash of the code of a method: of its folder and of what all methods share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from langford import provenance
from langford.methods import METHODS, method_hash
from langford.provenance import COMPUTING, ROOT, kernel_hash
from tests.extensions.inclusion import Inclusion

TESTS = Path(__file__).parents[1]
SEARCHES, SHIFTED = {"miller", "regular"}, {"shifted", "shifted2"}


def hashes() -> dict[str | None, str]:
    """Of what the sources are now."""
    kernel_hash.cache_clear()
    return {method: method_hash(method) for method in (None, *METHODS)}


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[Path, bytes]]:
    """The sources as the hash sees them, which may be changed."""
    kept = {**provenance.kept_sources()}
    monkeypatch.setattr(provenance, "kept_sources", lambda: kept)
    yield kept
    kernel_hash.cache_clear()


@pytest.mark.parametrize(
    ("changed", "methods"),
    [
        ("methods/necklace/kernels/necklace.cu", {"necklace"}),
        ("methods/polyphase/kernels/odd_sums.cuh", {"polyphase"}),
        ("methods/backtracking/kernels/rows.py", SEARCHES),
        ("methods/shifted/factors.py", SHIFTED),
        ("methods/shifted/signs.py", SHIFTED),
        ("methods/godfrey/tables.py", {"godfrey"}),
        ("methods/backtracking/__init__.py", SEARCHES),
        ("kernels/symmetries.py", {*METHODS}),
        ("kernels/gpu/host.h", {*METHODS}),
        ("kernels/gpu/cuda.py", {*METHODS}),
        ("arithmetic/limbs.py", {*METHODS}),
        ("methods/merging.py", set()),
        ("methods/__init__.py", set()),
    ],
)
def test_a_change_concerns_the_methods_whose_code_it_is(
    changed: str, methods: set[str], sources: dict[Path, bytes]
) -> None:
    before = hashes()
    assert ROOT / changed in sources
    sources[ROOT / changed] = b"changed"
    after = hashes()
    assert {method for method in after if after[method] != before[method]} == {None, *methods}


@pytest.mark.parametrize("place", ["methods/new/plan.py", "methods/godfrey/new.cuh", "kernels/new.h"])
def test_a_new_file_of_any_folder_takes_part(place: str, sources: dict[Path, bytes]) -> None:
    before = hashes()
    sources[ROOT / place] = b""
    after = hashes()
    concerned = {"methods/new/plan.py": set(), "methods/godfrey/new.cuh": {"godfrey"}, "kernels/new.h": {*METHODS}}
    assert {method for method in after if after[method] != before[method]} == {None, *concerned[place]}


def test_a_method_of_ones_own_has_a_hash_of_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(METHODS, Inclusion.name, Inclusion())
    found = method_hash(Inclusion.name)
    assert found == kernel_hash(TESTS / "extensions" / "inclusion")
    assert found not in {method_hash(name) for name in (None, *METHODS) if name != Inclusion.name}
    for number, change in enumerate(("a = 1", "a = 2")):
        folder = tmp_path / str(number) / "own"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(change)
    assert kernel_hash(tmp_path / "0" / "own") != kernel_hash(tmp_path / "1" / "own")
    assert kernel_hash(tmp_path / "0" / "own" / "__init__.py") == kernel_hash(tmp_path / "0" / "own")


def test_a_method_that_counts_by_another_ones_code_has_a_hash_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    class Better(type(METHODS["godfrey"])):  # type: ignore[misc]
        name = "better"

    monkeypatch.setitem(METHODS, Better.name, Better())
    assert method_hash("better") == kernel_hash(ROOT / "methods" / "godfrey", Path(__file__))


def test_a_method_that_is_unknown_here_has_the_hash_of_all() -> None:
    assert method_hash("shifted9") == method_hash(None) == kernel_hash()
    assert {file.relative_to(ROOT).parts[0] for file in provenance.kept_sources()} == {*COMPUTING}


def test_a_method_of_a_program_that_is_run_has_a_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of one that is typed at a prompt, the file of which is unknown."""

    class Typed(Inclusion):
        name = "typed"

    Typed.__module__ = "__main__"
    monkeypatch.setitem(METHODS, Typed.name, Typed())
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    assert method_hash(Typed.name) == kernel_hash()
