"""A wrong count does not look like a right one, and what finds the wrong task."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from db import Export, Ledger, read_export
from jobs.verify.agreement import agreement
from langford.arithmetic.residue import residue
from langford.methods.backtracking.estimation import Estimate
from langford.problem import Problem
from langford.result import Evaluation
from tests.support.command_line import Run, run_here

NAME = "langford-12-polyphase-8"
STEP = 1 << 22
"""Twice the multiple of the count that the total must be: no check of the sums notices it."""


def raised(export: Export, index: int, by: int) -> Export:
    """The export with one sum raised; its residue follows."""

    def change(evaluation: Evaluation) -> Evaluation:
        value = evaluation.result.value + by
        return replace(evaluation, result=replace(evaluation.result, value=value, residue=residue(value)))

    results = [change(each) if each.result.index == index else each for each in export.results]
    return replace(export, results=tuple(results))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with the finished campaign."""
    made = tmp_path_factory.mktemp("finished")
    assert run_here(["run", "langford", "12", "--depth", "8"], made).returncode == 0
    return made / "langford.db"


@pytest.fixture
def counted(finished: Path, tmp_path: Path) -> None:
    """A copy of it in the working folder."""
    shutil.copy(finished, tmp_path)


@pytest.fixture
def wrong_file(finished: Path, tmp_path: Path) -> Path:
    """A complete export in which the sum of task 3 was raised, and the digest renewed."""
    with Ledger(str(finished)) as ledger:
        export = ledger.campaign(NAME).reader.export()
    file = tmp_path / f"{NAME}.jsonl.gz"
    file.write_bytes(raised(export, 3, STEP).to_bytes())
    return file


def test_a_wrong_count_exits_4_and_says_how_to_find_the_task(langford: Run, wrong_file: Path) -> None:
    for command in (["import", wrong_file.name], ["result", NAME], ["run", "langford", "12", "--depth", "8"]):
        done = langford(*command)
        assert done.returncode == 4, command
        assert "WRONG: L(2,12) = " in done.stdout
        assert "published value 108,144" in done.stdout
        for piece in (
            "residues mod 2^64-1 agree",
            "at least one task is wrong",
            f"`langford verify {NAME} --sample",
            ", or count with --method shifted2",
        ):
            assert piece in done.stderr, (command, piece)
    document = json.loads(langford("result", NAME, "--json").stdout)
    assert document["agrees"] is False
    files = langford("result", "--from", wrong_file.name, "--json")
    assert (files.returncode, json.loads(files.stdout)["agrees"]) == (4, False)
    assert "langford import" in files.stderr
    found = langford("verify", NAME, "--sample", "100%")
    assert (found.returncode, found.stdout.count("differs")) == (4, 1)
    assert "task 3: stored " in found.stdout
    assert "task 3" in found.stderr


def test_a_right_count_agrees_and_an_unknown_one_is_compared_with_walks(langford: Run) -> None:
    right = json.loads(langford("count", "12", "--json").stdout)
    assert (right["agrees"], right["published"], right["estimate"]) == (True, "108144", None)
    unknown = langford("count", "hooked-langford", "10")
    assert unknown.returncode == 0
    assert "a random-walk estimate of" in unknown.stdout
    assert "standard errors; no published value" in unknown.stdout
    document = json.loads(langford("count", "hooked-langford", "10", "--json").stdout)
    assert (document["agrees"], document["published"]) == (None, None)
    assert document["standard_errors"] < 6


@pytest.mark.exhaustive
def test_an_estimate_refutes_what_is_far_from_it() -> None:
    problem = Problem.named("hooked-langford", 13)
    near = agreement(problem, 0)
    assert near.estimate is not None
    assert near.agrees is False
    assert "differs" in near.words
    assert agreement(problem, int(near.estimate)).agrees is None
    assert agreement(Problem.langford(9), 1).agrees is False
    assert agreement(Problem.langford(9), 0).agrees is True
    few = agreement(Problem.langford(27, 3), 7)
    assert (few.agrees, few.estimate, "not compared" in few.words) == (None, None, True)


@pytest.mark.parametrize("fruitful", [999, 1000])
def test_an_estimate_from_few_walks_refutes_nothing(fruitful: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its standard error would look small."""
    estimated = Estimate(1e6, 1e3, 20_000, fruitful)
    monkeypatch.setattr("langford.methods.backtracking.estimation.estimate", lambda problem, walks: estimated)
    assert agreement(Problem.named("hooked-langford", 13), 7).agrees is (None if fruitful < 1000 else False)


@pytest.mark.usefixtures("counted")
def test_a_conflict_exits_4_and_names_the_command_that_settles_it(langford: Run, wrong_file: Path) -> None:
    taken = langford("import", wrong_file.name)
    assert (taken.returncode, "1 conflict" in taken.stdout) == (4, True)
    conflict = langford("result", NAME)
    settles = f"langford run 12 --method polyphase --depth 8 --name {NAME}"
    assert (conflict.returncode, settles in conflict.stderr) == (4, True)
    # The file is evidence and no vote; this machine has voted: it waits for another host, or for the operator.
    again = langford(*settles.split()[1:], "--json")
    assert (again.returncode, json.loads(again.stdout)["count"]) == (4, None)
    assert "conflicting results" in again.stderr
    settled = langford(*settles.split()[1:], "--json", host="elsewhere")
    assert (settled.returncode, json.loads(settled.stdout)["agrees"]) == (0, True)


def test_the_operator_settles_a_conflict(langford: Run, wrong_file: Path) -> None:
    assert langford("import", wrong_file.name).returncode == 4
    assert langford("verify", NAME, "3").returncode == 4  # nothing waits: the ledger stays as it is
    assert langford("result", NAME).returncode == 4
    questioned = langford("recheck", NAME, "3")
    assert (questioned.returncode, "1 result of" in questioned.stdout) == (0, True)
    waits = langford("result", NAME)
    assert (waits.returncode, f"`langford verify {NAME} --waiting`" in waits.stderr) == (3, True)
    decided = langford("verify", NAME, "--waiting")
    assert (decided.returncode, "decided   3" in decided.stdout) == (4, True)
    assert "chosen because they waited for a recheck or a decision" in decided.stdout
    assert "its result is now the recomputed value" in decided.stderr
    assert json.loads(langford("result", NAME, "--json").stdout)["agrees"] is True
    assert "no result" in langford("verify", NAME, "--waiting").stdout


def test_results_are_put_in_question_by_task_worker_and_kernel(langford: Run) -> None:
    again = ["run", "langford", "12", "--depth", "8", "--json"]
    count = json.loads(langford(*again).stdout)
    [first, *_] = json.loads(langford("tasks", NAME, "--json").stdout)
    host = json.loads(first["provenance"])["host"]
    for number, chosen in ((3, ["0", "2,3"]), (6, ["--worker", host]), (6, ["--kernel", count["kernels"]])):
        questioned = langford("recheck", NAME, *chosen)
        assert questioned.returncode == 0, questioned.stderr
        assert f"{number} results of {NAME} put in question" in questioned.stdout
        assert langford("result", NAME).returncode == 3
        assert json.loads(langford(*again).stdout)["count"] == "108144"  # the same machine, once more
    refused = langford("recheck", NAME, "--kernel", "0123")
    assert (refused.returncode, "no such result" in refused.stderr) == (2, True)
    for unclear in ([], ["1", "--all"], ["99"]):
        assert langford("recheck", NAME, *unclear).returncode == 2


def test_verify_compares_by_another_split_kernel_or_search(langford: Run) -> None:
    for method, depth in (("godfrey", "4"), ("miller", "2"), ("polyphase", "4"), ("shifted", "4")):
        name = f"langford-8-{method}-{depth}"
        assert langford("run", "langford", "8", "--method", method, "--depth", depth).returncode == 0
        done = langford("verify", name, "--sample", "100%", "--json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert document["agrees"] is True
        assert document["coverage"]["compared"] == document["coverage"]["tasks"]
        assert f"tasks at depth {int(depth) + (1 if method == 'miller' else 2)}" in document["how"]
    other_search = langford("verify", "langford-8-miller-2", "1", "--method", "regular")
    assert (other_search.returncode, "regular, as sums" in other_search.stdout) == (0, True)
    not_comparable = langford("verify", "langford-8-godfrey-4", "--method", "polyphase")
    assert (not_comparable.returncode, "langford count --method polyphase" in not_comparable.stderr) == (2, True)
    assert "langford confirm NAME --method polyphase" in not_comparable.stderr
    assert langford("run", "langford", "8", "--method", "miller", "--depth", "8").returncode == 0
    deepest = langford("verify", "langford-8-miller-8", "1")
    assert (deepest.returncode, "at the same depth, 8, the deepest" in deepest.stdout) == (0, True)


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_verify_compares_with_the_kernel_of_the_gpu_on_the_host(langford: Run) -> None:
    """Of one method: the kernels of all are compared in the tests of the library."""
    assert langford("run", "langford", "11", "--method", "miller", "--depth", "2").returncode == 0
    done = langford("verify", "langford-11-miller-2", "0,1", "--device", "host")
    assert done.returncode == 0, done.stderr
    assert "compiled for this processor" in done.stdout
    assert "2 of " in done.stdout


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_a_kernel_of_the_gpu_cannot_compare_tasks_that_place_every_colour(langford: Run) -> None:
    assert langford("run", "langford", "7", "--method", "miller", "--depth", "6").returncode == 0
    refused = langford("verify", "langford-7-miller-6", "0", "--device", "host")
    assert (refused.returncode, "place every colour" in refused.stderr) == (2, True)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A key of ada's, and a file of allowed signers."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("needs ssh-keygen")
    for name in ("ada", "eve"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(tmp_path / name)]
        subprocess.run(command, check=True)
    signers = tmp_path / "signers"
    signers.write_text(f"ada@example.org {(tmp_path / 'ada.pub').read_text()}")
    return signers


@pytest.mark.usefixtures("counted", "keys")
def test_a_statement_says_what_was_verified_and_by_whom(langford: Run, tmp_path: Path) -> None:
    stating = ["verify", NAME, "--sample", "50%", "--sample-seed", "7", "--statement", "said.txt"]
    assert langford(*stating).returncode == 0
    unsigned = langford("verify", "--check", "said.txt")
    assert (unsigned.returncode, "unsigned: the author is unknown" in unsigned.stdout) == (0, True)
    assert langford(*stating, "--sign", "ada").returncode == 0
    for piece in ("3 of 6 tasks", "seed 7", "Not verified: the other 3 tasks", "kernels ", "on cpu", "agree"):
        assert piece in (tmp_path / "said.txt").read_text(), piece
    fingerprint = langford("verify", "--check", "said.txt")
    assert (fingerprint.returncode, "SHA256:" in fingerprint.stdout) == (0, True)
    checking = ["verify", "--check", "said.txt", "--allowed-signers", "signers"]
    assert "signed by ada@example.org" in langford(*checking).stdout
    assert json.loads(langford(*checking, "--json").stdout)["signature"] == "signed by ada@example.org"
    text = (tmp_path / "said.txt").read_text()
    (tmp_path / "said.txt").write_text(text.replace("all 3 recomputed", "all 6 recomputed"))
    assert langford(*checking).returncode == 4
    (tmp_path / "said.txt.sig").unlink()
    refused = langford(*checking)
    assert (refused.returncode, "not signed" in refused.stderr) == (4, True)
    words, _, numbers = text.partition("\n---\n")
    (tmp_path / "said.txt").write_text(f"{words.replace('3 of 6', '6 of 6')}\n---\n{numbers}")
    changed = langford("verify", "--check", "said.txt")
    assert (changed.returncode, "it was changed" in changed.stderr) == (4, True)
    assert langford(*stating, "--sign", "eve").returncode == 0
    stranger = langford(*checking)
    assert (stranger.returncode, "not in signers" in stranger.stderr) == (4, True)


@pytest.mark.usefixtures("counted", "keys")
def test_exports_are_signed_and_result_says_by_whom(langford: Run, tmp_path: Path) -> None:
    assert langford("export", NAME, "--out", "plain.gz").returncode == 0
    assert langford("export", NAME, "--out", "signed.gz", "--sign", "ada").returncode == 0
    plain = langford("result", "--from", "plain.gz")
    assert (plain.returncode, "the contents were checked" in plain.stderr) == (0, True)
    merging = ["result", "--from", "signed.gz", "--allowed-signers", "signers"]
    signed = langford(*merging)
    assert (signed.returncode, "signed by ada@example.org" in signed.stderr) == (0, True)
    shutil.copy(tmp_path / "plain.gz", tmp_path / "signed.gz")
    (tmp_path / "signed.gz").write_bytes(raised(read_export(tmp_path / "plain.gz"), 3, STEP).to_bytes())
    forged = langford(*merging)
    assert (forged.returncode, forged.stdout) == (4, "")
    assert "does not belong to it" in forged.stderr


@pytest.mark.usefixtures("counted", "keys")
def test_a_signature_never_stands_beside_another_file(langford: Run, tmp_path: Path) -> None:
    signed = ["export", NAME, "--out", "signed.gz", "--sign"]
    assert langford(*signed, "ada").returncode == 0
    file, signature = tmp_path / "signed.gz", tmp_path / "signed.gz.sig"
    earlier = raised(read_export(file), 3, STEP).to_bytes()
    file.write_bytes(earlier)
    before = signature.read_bytes()
    refused = langford(*signed, "signers")
    assert (refused.returncode, "give a private ssh key" in refused.stderr) == (2, True)
    assert (file.read_bytes(), signature.read_bytes()) == (earlier, before)
    assert langford(*signed[:-1]).returncode == 0
    assert not signature.exists()
    assert "unsigned" in langford("result", "--from", "signed.gz").stderr
    signature.mkdir()
    before = file.read_bytes()
    assert "signed.gz.sig: Is a directory" in langford(*signed, "ada").stderr
    assert file.read_bytes() == before
