"""A number that somebody sent, and an arrangement, are checked by a command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import langford
from langford.cli.main import cli
from langford.cli.output.answer import Asked
from langford.cli.output.known import KnownAnswer
from langford.errors import BadProblem
from langford.methods.plan import Plan
from langford.problem import Problem
from tests.support.command_line import run_here

pytestmark = pytest.mark.usefixtures("alone")


def call(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A ledger with a campaign that is done, and its export beside it."""
    folder = tmp_path_factory.mktemp("twelve")
    for command in ("run 12 --name twelve -l l.db", "export twelve -l l.db"):
        assert run_here(command.split(), folder).returncode == 0
    return str(folder / "l.db")


RUN = ["run", "12", "--name", "twelve", "--workers", "1"]


@pytest.mark.parametrize("command", [["count", "12"], RUN, ["result", "twelve"], ["result", "--from"]])
def test_a_number_agrees_or_both_are_shown(twelve: str, command: list[str]) -> None:
    where = ["-l", twelve]
    if command == ["count", "12"]:
        where = []
    if "--from" in command:
        where = [str(Path(twelve).with_name("twelve.jsonl.gz"))]
    for number in ("108144", "108,144"):
        done = call(*command, *where, "--expect", number)
        assert done.exit_code == 0, done.output
        assert "  agrees    with the expected 108,144\n" in done.output
    for number in ("108,145", "216,288"):
        wrong = call(*command, *where, "--expect", number)
        said = f"L(2,12) = 108,144, not the expected {number} (216,288 counting every image)"
        assert (wrong.exit_code, said in wrong.stderr) == (4, True)
    document = json.loads(call(*command, *where, "--expect", "7", "--json").stdout)
    assert (document["count"], document["expected"], document["as_expected"]) == ("108144", "7", False)


def test_zero_may_be_expected() -> None:
    assert call("count", "6", "--expect", "0").exit_code == 0
    assert call("count", "6", "--expect", "1").exit_code == 4


def test_a_count_prints_its_checks_in_one_line_or_one_by_one() -> None:
    lines = call("count", "12").output.splitlines()
    assert [line for line in lines if "checked" in line] == [
        "  checked   every task once, residues, zero bits, divisible by 2²¹, mirror pairs"
    ]
    assert "tune" not in "\n".join(lines)
    assert call("count", "12", "-v").output.count("  checked   ") == 5


def test_an_arrangement_is_checked() -> None:
    done = call("draw", "--cubes", "3,1,2,1,3,2")
    assert done.exit_code == 0
    assert done.output.endswith("an arrangement of L(2,3), langford-3\n  planar\n  mirror image 2,3,1,2,1,3\n")
    wrong = call("draw", "--cubes", "3,1,2,1,2,3")
    assert (wrong.exit_code, "colour 2 is at 3 and 5, 1 cube between, not 2" in wrong.stderr) == (4, True)
    document = json.loads(call("draw", "--cubes", "1,1,2,0,2", "--json").stdout)
    assert (document["problem"], document["planar"], document["fault"]) == ("hooked-skolem-2", True, None)
    assert call("draw", "3", "--cubes", "3,1,2,1,3,2").exit_code == 0
    # as `langford list` prints it, with any sign of a hole, and with the labels of another family
    for written in ("2 3 1 2 1 3", "2, 3, 1, 2, 1, 3", "3 4 2 3 2 4"):
        assert call("draw", "3", "--cubes", written).exit_code == 0
    for row in ("2,0,0,2", "3 . . 3", "3 · · 3"):
        done = call("draw", "differences", "3", "over", "4", "empty", "2,3", "--cubes", row)
        assert "an arrangement of differences {3} over 4 places" in done.output
    labels = call("draw", "hooked-skolem", "2", "--cubes", "1,1,2,0,3")
    assert "colour 2 has 1 cube, not 2; colour 3 has 1 cube, not 0" in str(labels.exception)


def test_a_citation_names_a_file_only_if_it_exists(twelve: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(twelve).parent
    monkeypatch.chdir(folder)
    assert "kept in twelve.jsonl.gz (SHA-256 " in call("cite", "twelve", "-l", twelve).output
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    cited = call("cite", "twelve", "-l", twelve).output
    assert "`langford export twelve` writes the partial results.\n" in cited
    assert "This ledger records no second count." in cited
    assert "This file records no second count." in call("cite", "--from", "../twelve.jsonl.gz").output
    entry = cited.partition("@software")[2]
    assert all(f"  {name} = {{" in entry for name in ("title", "author", "version", "year", "howpublished"))
    assert "  howpublished = {Computer program, kernels " in entry


def test_a_term_of_a_sequence_is_what_it_counts() -> None:
    shown = call("count", "A176127", "8")
    assert shown.output.startswith("A176127(8) = 300\n  L(2,8) = 150 arrangements up to reversal, ")
    assert "agrees    with the published value 300 (A176127(8))" in shown.output
    document = json.loads(call("count", "A004075(8)", "--json").stdout)
    assert (document["sequence"], document["index"], document["term"], document["count"]) == (
        "A004075",
        8,
        "504",
        "252",
    )


@pytest.mark.parametrize("command", [("count",), ("run", "-l"), ("result", "-l")])
def test_a_term_is_what_is_expected(tmp_path: Path, command: tuple[str, ...]) -> None:
    ledger = str(tmp_path / "l.db")
    assert command == ("count",) or call("run", "8", "-l", ledger).exit_code == 0
    asked = [command[0], "A176127", "8", *(["-l", ledger] if "-l" in command else []), "--expect"]
    assert "agrees    with the expected 300" in call(*asked, "300").output
    half = call(*asked, "150")
    assert (half.exit_code, "A176127(8) = 300, not the expected 150" in half.stderr) == (4, True)


def test_an_estimate_of_a_term_counts_images_as_its_sequence_does() -> None:
    document = json.loads(call("estimate", "A176127", "3", "--walks", "10", "--json").stdout)
    assert (document["exact"], document["estimate"]) == ("2", 2)


def test_the_term_of_the_row_without_a_colour_needs_no_count() -> None:
    for name in ("A059108", "A285527"):
        assert call("count", name, "0").output == f"{name}(0) = 1, the row without a colour; nothing was counted\n"
        assert langford.count(f"{name}(0)") == 1
        with pytest.raises(BadProblem, match="is 1, for the row without a colour"):
            Problem.parse(f"{name} 0")
    assert call("count", "A059108 0", "--expect", "2").exit_code == 4


@pytest.fixture
def _not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "evaluator", lambda *_: pytest.fail("a task was evaluated"))


@pytest.mark.usefixtures("_not_measured")
def test_a_long_count_is_compared_with_what_is_published() -> None:
    right = call("count", "28", "--expect", "1607383260609382393152")
    assert right.exit_code == 0
    assert "as published (A014552); nothing was counted" in right.output
    assert "langford result --from " in right.output
    wrong = call("count", "A176127", "28", "--expect", "1607383260609382393152", "--json")
    assert wrong.exit_code == 4
    document = json.loads(wrong.stdout)
    assert (document["as_expected"], document["term"]) == (False, "3214766521218764786304")


@pytest.mark.usefixtures("_not_measured")
def test_a_long_count_is_compared_with_a_stored_export() -> None:
    right = call("count", "rosa", "24", "--expect", "45,346,214,885,365,184")
    assert right.exit_code == 0, right.output
    assert right.output.startswith("Rosa(2,24) = 45,346,214,885,365,184, by the partial sums in ")
    (export,) = re.findall(r"sums of an export: langford (result --from .*rosa-24-shifted2-2.*)", right.output)
    assert call(*export.split()).stdout.startswith("Rosa(2,24) = 45,346,214,885,365,184\n")
    wrong = call("count", "rosa", "24", "--expect", "45346214885365185")
    assert (wrong.exit_code, "DIFFERS   from" in wrong.output) == (4, True)


def test_an_export_that_is_not_complete_is_no_answer() -> None:
    assert KnownAnswer.of(Problem.langford(31), Asked(5894683902597484486903808)) is None
