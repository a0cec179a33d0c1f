"""A method and a family of one's own, in an installed program: every process finds them by their entry points."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from langford.methods import METHODS, method_hash
from langford.methods.backtracking import explicit
from langford.problem import Problem
from langford.problem.variants import VARIANTS, Variant
from tests.extensions.headed import CONDITION, HEADED, headed
from tests.support import brute_force
from tests.support.command_line import COMMAND, ENVIRONMENT, Run, run_together
from tests.support.ports import free_port

EXTENSIONS = Path(__file__).parents[1] / "extensions"
ENTRY_POINTS = """\
[langford.methods]
inclusion = inclusion:Inclusion
heads = headed:Heads
polyphase = inclusion:Inclusion

[langford.families]
sparse = sparse:SPARSE
headed = headed:HEADED
"""
SPARSE = """\
from langford.problem.variants import Variant

SPARSE = Variant("sparse", "Sparse", lambda n: range(3, n + 3), pairs_only=False)
"""


def install(folder: Path, entry_points: str) -> dict[str, str]:
    """Unpack a program as an installer does; the variables with which every Python has it."""
    package = folder / "inclusion"
    package.mkdir(parents=True)
    for file in EXTENSIONS.glob("inclusion/*.py"):
        (package / file.name).write_text(file.read_text().replace("tests.extensions.", ""))
    (folder / "sparse.py").write_text(SPARSE)
    (folder / "headed.py").write_text((EXTENSIONS / "headed.py").read_text())
    (folder / "leaving.py").write_text("import sys\nsys.exit(0)\n")
    described = folder / "counting_more-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: counting-more\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(entry_points)
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))}


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    return install(tmp_path / "site", ENTRY_POINTS)


@pytest.fixture
def expected(monkeypatch: pytest.MonkeyPatch) -> int:
    """The count of sparse 5, by brute force."""
    monkeypatch.setitem(
        VARIANTS, "sparse", Variant("sparse", "Sparse", lambda n: range(3, n + 3), pairs_only=False)
    )
    problem = Problem.named("sparse", 5)
    return problem.published(brute_force.arrangements(problem))


@pytest.mark.exhaustive
def test_a_server_and_its_worker_find_them(
    langford: Run, installed: dict[str, str], expected: int, tmp_path: Path
) -> None:
    port, name = free_port(), "sparse-5-inclusion-4"
    asked = ["sparse", "5", "--method", "inclusion", "--depth", "4"]
    assert langford("create", *asked, variables=installed, in_process=False).returncode == 0
    environment = ENVIRONMENT | installed
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(
            [*COMMAND, "serve", name, "--port", str(port)], cwd=tmp_path, env=environment, stdout=log, stderr=log
        )
    try:
        while "listening" not in (said := (tmp_path / "server.log").read_text()) and str(port) not in said:
            assert server.poll() is None, said
            time.sleep(0.1)
        done = subprocess.run(
            [*COMMAND, "work", f"{name}.join", "--workers", "1"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    finally:
        server.kill()
        server.wait()
    outcome = langford("result", name, "--json", variables=installed, in_process=False)
    assert int(json.loads(outcome.stdout)["count"]) == expected


@pytest.mark.exhaustive
def test_a_family_with_a_condition_is_counted_by_its_method_and_by_nothing_else(
    tmp_path: Path, installed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows without the condition are extended Skolem sequences, published, estimated and read backwards."""

    monkeypatch.setitem(VARIANTS, "headed", HEADED)
    member = "headed 6 hole 4"
    problem, refusal = Problem.parse(member), f"it cannot require that arrangements are {CONDITION}"
    right = headed(problem)
    assert right != headed(Problem.parse("headed 6 hole 10"))  # the mirror image of its row
    solved = ",".join(map(str, explicit.find(Problem.parse("extended-skolem 6 hole 4"))))
    name = "headed-6-hole-4-heads-0"
    answered = [
        f"count {member} --json", "table headed 6 --json", f"draw --cubes {solved}", f"verify {name} --sample 100%",
        f"result {name}", "count 8 --method polyphase --json",
    ]  # fmt: skip
    refused = [
        f"count {member} --method miller", f"estimate {member}", f"list {member}", f"draw {member}",
        f"draw {member} --cubes {solved}",
    ]  # fmt: skip
    done = run_together([*answered, *refused], tmp_path, installed)
    assert [each.returncode for each in done] == 6 * [0] + 5 * [2], done
    counted, table, drawn, verified, result, plain = (each.stdout for each in done[:6])
    assert json.loads(plain)["kernels"] == method_hash("polyphase"), "the method of this program keeps its name"
    document, rows = json.loads(counted), json.loads(table)
    assert (document["count"], document["method"], document["agrees"]) == (str(right), "heads", None)
    for method in METHODS:
        assert METHODS[method].refusal(problem) == refusal
    assert len(rows) == sum(2 * n + 1 for n in range(1, 7))
    for row in rows:
        each = Problem.named("headed", row["n"], hole=row["hole"])
        known = "none can exist" if each.obstruction else "none known"
        assert (int(row["count"]), row["known"]) == (headed(each), known), each
    assert "extended Skolem(2,6) with hole 4" in drawn
    assert f"stored {right}, recomputed {right}: agrees" in verified
    assert "no reliable estimate" in result
    by_miller, estimated, *listed = (each.stderr for each in done[6:])
    assert f"{refusal}; use heads" in by_miller
    assert f"cannot estimate {problem}: {refusal}" in estimated
    assert all("cannot tell which are headed by the smallest colour" in each for each in listed)


BROKEN = [
    ("broken = inclusion.absent:Broken", "cannot be loaded (ModuleNotFoundError: No module named"),
    ("other = inclusion:Inclusion", "is not a Method named other"),
    ("number = inclusion:MAX_PLACES", "is not a Method named number"),
    ("leaving = leaving:Leaving", "cannot be loaded (SystemExit: 0)"),
]


def test_broken_ones_are_named_and_stop_nothing_that_does_not_need_them(tmp_path: Path) -> None:
    entries = "\n".join(entry for entry, _ in BROKEN)
    families = "absent = sparse:ABSENT\nleaving = leaving:Leaving"
    installed = install(tmp_path / "site", f"[langford.methods]\n{entries}\n[langford.families]\n{families}\n")
    commands = ["families", "count 8 --json", *(f"count 4 --method {entry.split()[0]}" for entry, _ in BROKEN)]
    listed, counted, *refused = run_together(commands, tmp_path, installed)
    assert (listed.returncode, "near-skolem" in listed.stdout) == (0, True)
    left_out = [line for line in (listed.stderr + counted.stderr).splitlines() if " is left out" in line]
    assert [line for line in left_out if " absent is left out" in line]
    assert (counted.returncode, json.loads(counted.stdout)["count"]) == (0, "150")
    for done, (entry, said) in zip(refused, BROKEN, strict=True):
        assert [line for line in left_out if f" {entry.split()[0]} is left out" in line and said in line], entry
        assert (done.returncode, done.stdout) == (2, ""), entry
        assert done.stderr.count("\n") == 1, done.stderr
        assert said in done.stderr
        assert "uninstall counting-more" in done.stderr


@pytest.mark.exhaustive
def test_a_family_cannot_take_another_word_of_a_problem(tmp_path: Path) -> None:
    words = ("differences", "cyclic", "over", "empty", "copies", "missing", "hole", "skolem")
    entries = "\n".join(f"{word} = sparse:named_{word}" for word in words)
    installed = install(tmp_path / "site", f"[langford.families]\n{entries}\n")
    asked = {"differences 1,2,3,4": 3, "cyclic 1,2,3,4": 1, "near-skolem 4 missing 2": 0, "9 copies 3": 3}
    done = run_together([f"list {words}" for words in asked], tmp_path, installed)
    assert [each.returncode for each in done] == 4 * [0], done
    assert [len(each.stdout.splitlines()) for each in done] == [*asked.values()]
