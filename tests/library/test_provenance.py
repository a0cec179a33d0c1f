"""The hash of the code of a method: of what its files use, and of nothing else."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from langford import provenance
from langford.methods import METHODS
from langford.provenance import COMPUTING, ROOT, WITH_ALL_METHODS, files_of, kernel_hash
from tests.extensions.inclusion import Inclusion

TESTS = Path(__file__).parents[1]
NEW = ROOT / "methods" / "new" / "plan.py"
SEARCHES, SHIFTED = {"miller", "regular"}, {"shifted", "shifted2"}


def hashes() -> dict[str | None, str]:
    return {method: kernel_hash.__wrapped__(method) for method in (None, *METHODS)}


@pytest.mark.parametrize(
    ("changed", "methods"),
    [
        ("kernels/cuda/necklace.cu", {"necklace"}),
        ("kernels/cuda/odd_sums.cuh", {"polyphase"}),
        ("methods/symmetries.py", {"polyphase", *SHIFTED}),
        ("methods/shifted/factors.py", SHIFTED),
        ("methods/shifted/signs.py", SHIFTED),
        ("kernels/cpu/rows.py", SEARCHES),
        ("methods/godfrey/tables.py", {"godfrey"}),
        ("methods/backtracking/__init__.py", SEARCHES),
        ("methods/plan.py", {*METHODS}),
        ("kernels/gpu/host.h", {*METHODS}),
        ("kernels/gpu/cuda.py", {*METHODS}),
        ("methods/merging.py", set()),
        ("methods/__init__.py", set()),
        ("methods/new/plan.py", set()),
    ],
)
def test_a_change_concerns_the_methods_that_use_it(
    changed: str, methods: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, sources = hashes(), {**provenance.kept_sources()}
    assert (ROOT / changed in sources) == (ROOT / changed != NEW)
    sources[ROOT / changed] = b"changed"
    monkeypatch.setattr(provenance, "kept_sources", lambda: sources)
    after = hashes()
    assert {method for method in after if after[method] != before[method]} == {None, *methods}


@pytest.mark.parametrize("name", METHODS)
def test_everything_that_is_imported_or_included_takes_part(name: str) -> None:
    """By Python's own grammar, and by what the compiler for GPUs includes."""
    files = files_of(METHODS[name])
    for file in files:
        text = file.read_text()
        used = {file.with_name(include) for include in re.findall(r'#include "([a-z_]+\.cuh)"', text)}
        for node in ast.walk(ast.parse(text)) if file.suffix == ".py" else ():
            modules = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                modules = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
            for module in modules:
                package, *parts = module.split(".")
                if package == "langford" and parts[:1] and parts[0] in COMPUTING:
                    place = ROOT.joinpath(*parts)
                    used |= {each for each in (place / "__init__.py", place.with_suffix(".py")) if each.is_file()}
        assert used - {*WITH_ALL_METHODS} <= files
    assert {file.parent.name for file in files if file.suffix == ".cu"} == {"cuda"}
    assert any(file.parts[-3:-1] == ("kernels", "cpu") for file in files)


def test_a_method_of_ones_own_has_a_hash_of_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, Inclusion.name, Inclusion())
    own = TESTS / "extensions" / "inclusion"
    assert {own / name for name in ("__init__.py", "plan.py", "cpu.py")} <= files_of(METHODS[Inclusion.name])
    others = {kernel_hash(name) for name in (None, *METHODS) if name != Inclusion.name}
    found = kernel_hash.__wrapped__(Inclusion.name)
    assert found not in others
    # A set of files has another order in each process.
    files = sorted(files_of(METHODS[Inclusion.name]))
    for order in (files, files[::-1]):
        monkeypatch.setattr(provenance, "files_of", lambda method, order=order: order)
        assert kernel_hash.__wrapped__(Inclusion.name) == found


def test_a_method_that_is_unknown_here_has_the_hash_of_all() -> None:
    assert kernel_hash("shifted9") == kernel_hash()


def test_a_method_of_a_program_that_is_run_has_a_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of one that is typed at a prompt, the file of which is unknown."""

    class Typed(Inclusion):
        name = "typed"
        plans, evaluators = "__main__:Plan", {"cpu": "__main__:Cpu"}

    Typed.__module__ = "__main__"
    monkeypatch.setitem(METHODS, Typed.name, Typed())
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    assert kernel_hash.__wrapped__(Typed.name) == kernel_hash()
