"""The hash of the code of a method covers every file that it plans, evaluates and merges with."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from langford.methods import METHODS, method_hash
from langford.provenance import ROOT, kernel_hash
from tests.extensions.inclusion import Inclusion
from tests.support.command_line import ENVIRONMENT

TESTS = Path(__file__).parents[1]
SEARCHES, SHIFTED = {"miller", "regular"}, {"shifted", "shifted2"}
ALL = "all"
"""Stands for the hash of all methods."""
CHANGING = f"""
import json, sys
from langford.methods import METHODS, method_hash
from langford.provenance import ELSEWHERE, ROOT, kept_sources, kernel_hash

def hashes():
    kernel_hash.cache_clear()
    kept_sources.cache_clear()
    return {{name or {ALL!r}: method_hash(name) for name in (None, *METHODS)}}

before, found = hashes(), {{}}
files = sorted(file for file in ROOT.rglob("*.*") if file.is_file() and file.suffix != ".pyc")
elsewhere = [[file for file in files if ROOT / folder in file.parents] for folder in ELSEWHERE]
for together in (*elsewhere, *([file] for file in files if file.relative_to(ROOT).parts[0] not in ELSEWHERE)):
    contents = [file.read_bytes() for file in together]
    for file, content in zip(together, contents):
        first, _, others = content.partition(b"\\n")
        file.write_bytes(first + b" \\n" + others)
    changed = [name for name, each in hashes().items() if each != before[name]]
    for file, content in zip(together, contents):
        found[file.relative_to(ROOT).as_posix()] = changed
        file.write_bytes(content)
for file in map(ROOT.joinpath, sys.argv[1:]):
    file.parent.mkdir(exist_ok=True)
    file.touch()
    found[file.relative_to(ROOT).as_posix()] = [name for name, each in hashes().items() if each != before[name]]
    file.unlink()
print(json.dumps(found))
"""
NEW = ("methods/new/plan.py", "methods/godfrey/new.cuh", "kernels/new.h", "new.py")


CONCERNED = {
    "methods/necklace/kernels/necklace.cu": {"necklace"},
    "methods/polyphase/kernels/odd_sums.cuh": {"polyphase"},
    "methods/backtracking/kernels/rows.py": SEARCHES,
    "methods/shifted/signs.py": SHIFTED,
    "methods/godfrey/new.cuh": {"godfrey"},
    "methods/new/plan.py": set[str](),
    "methods/merging.py": {*METHODS},
    "kernels/gpu/host.h": {*METHODS},
    "kernels/new.h": {*METHODS},
    "new.py": {*METHODS},
}
"""Some files, and the methods whose code they are.  Contracts of imports show that no method uses other ones."""


def test_a_change_concerns_the_methods_whose_code_it_is(tmp_path: Path) -> None:
    """The hash of a method changes where a line of a file does; all others compute no count."""
    shutil.copytree(ROOT, tmp_path / ROOT.name, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-c", CHANGING, *NEW],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    concerned: dict[str, list[str]] = json.loads(done.stdout)
    for changed, methods in CONCERNED.items():
        assert {*concerned[changed]} == {ALL, *methods}, changed
    free = {file for file, names in concerned.items() if not names}
    assert {file.partition("/")[0] for file in free} == {"cli", "irregular", "methods", "py.typed"}
    assert "methods/speeds.toml" in free


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


def test_a_method_of_a_program_that_is_run_has_a_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of one that is typed at a prompt, the file of which is unknown."""

    class Typed(Inclusion):
        name = "typed"

    Typed.__module__ = "__main__"
    monkeypatch.setitem(METHODS, Typed.name, Typed())
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    assert method_hash(Typed.name) == kernel_hash()
