"""Families on the command line: every command that takes a problem takes their parameters."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from langford.cli.main import cli
from langford.problem import Problem
from tests.support.brute_force import arrangements
from tests.support.cases import exhaustive, few
from tests.support.command_line import Run

MEMBERS = {
    "langford-9-defect-3": "langford 9 defect 3",
    "hooked-langford-7-defect-3": "hooked-langford 7 defect 3",
    "extended-skolem-8-hole-3": "extended-skolem 8 hole 3",
    "near-skolem-8-missing-3": "near-skolem 8 missing 3",
    "hooked-near-skolem-8-missing-4": "hooked-near-skolem 8 missing 4",
    "rosa-8": "rosa 8",
    "hooked-rosa-6": "hooked-rosa 6",
    "extended-rosa-6-hole-3-second-hole-9": "extended-rosa 6 hole 3 second-hole 9",
    "starter-7": "starter 7",
    "cyclic-skolem-5": "cyclic-skolem 5",
    "cyclic-1.2.4.5.6-over-13-empty-2.3.7": "cyclic 1,2,4,5,6 empty 2,3,7",
}
"""A member of each family, and the arguments that name it."""
CIRCLES = [name for name in MEMBERS if Problem.parse(name).circle]


def true_count(name: str) -> int:
    problem = Problem.parse(name)
    return problem.published(arrangements(problem))


@pytest.mark.parametrize("name", few(MEMBERS, 4))
def test_commands_without_a_ledger_know_every_family(name: str) -> None:
    def document(command: str, *more: str, words: Sequence[str] = MEMBERS[name].split()) -> dict[str, str]:
        outcome = CliRunner().invoke(cli, [command, *words, *more, "--json"])
        assert outcome.exit_code == 0, outcome.output
        read: dict[str, str] = json.loads(outcome.stdout)
        return read

    count = document("count")
    assert (count["problem"], int(count["count"])) == (name, true_count(name))
    assert document("estimate", "--walks", "1000", words=Problem.parse(name).arguments)["problem"] == name
    drawn = document("draw", "--sample-seed", "1")["arrangement"]
    assert len(drawn) == Problem.parse(name).places


def test_campaigns_and_exports_know_families(langford: Run) -> None:
    names = {"extended-skolem-8-hole-3", "near-skolem-8-missing-3", *CIRCLES}
    for name in sorted(names):
        ran = langford("run", *MEMBERS[name].split(), "--json")
        assert ran.returncode == 0, ran.stderr
        campaign = json.loads(ran.stdout)["campaign"]
        assert campaign.startswith(f"{name}-")
        assert langford("export", campaign, "--out", f"{name}.jsonl.gz").returncode == 0
        read = json.loads(langford("result", "--from", f"{name}.jsonl.gz", "--json").stdout)
        assert (read["problem"], int(read["count"])) == (name, true_count(name))
        assert langford("run", campaign).returncode == 0
        assert langford("import", f"{name}.jsonl.gz", "--ledger", "other.db").returncode == 0
        verified = langford("verify", campaign, "--sample", "100%", "--ledger", "other.db")
        assert verified.returncode == 0, verified.stderr
        assert "every task was compared" in verified.stdout
    asked = json.loads(langford("query", "SELECT problem FROM campaign", "--json").stdout)
    assert {row["problem"] for row in asked} == names


@pytest.mark.parametrize("name", [*exhaustive(CIRCLES[:-1]), CIRCLES[-1]])
def test_circles_are_confirmed(langford: Run, name: str) -> None:
    campaign = json.loads(langford("run", *MEMBERS[name].split(), "--json").stdout)["campaign"]
    done = langford("confirm", campaign, "--json")
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)["campaigns"]
    assert (first["method"], first["seed"]) != (second["method"], second["seed"])
    assert int(first["count"]) == int(second["count"]) == true_count(name)
