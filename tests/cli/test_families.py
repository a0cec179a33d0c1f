"""Families on the command line: every command that takes a problem takes their parameters."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from langford.cli.main import cli
from langford.problem import Problem
from tests.support.brute_force import arrangements
from tests.support.command_line import Mpirun, Run

MEMBERS = {
    "langford-9-defect-3": "langford 9 --defect 3",
    "hooked-langford-7-defect-3": "hooked-langford 7 --defect 3",
    "extended-skolem-8-hole-3": "extended-skolem 8 --hole 3",
    "near-skolem-8-missing-3": "near-skolem 8 --missing 3",
    "hooked-near-skolem-8-missing-4": "hooked-near-skolem 8 --missing 4",
    "rosa-8": "rosa 8",
    "hooked-rosa-6": "hooked-rosa 6",
    "extended-rosa-6-hole-3-second-hole-9": "extended-rosa 6 --hole 3 --second-hole 9",
}
"""A member of each family, and the arguments that name it."""


def true_count(name: str) -> int:
    problem = Problem.parse(name)
    return problem.published(arrangements(problem))


@pytest.mark.parametrize("name", MEMBERS)
def test_commands_without_a_ledger_know_every_family(name: str) -> None:
    def document(command: str, *more: str) -> dict[str, str]:
        outcome = CliRunner().invoke(cli, [command, *MEMBERS[name].split(), *more, "--json"])
        assert outcome.exit_code == 0, outcome.output
        read: dict[str, str] = json.loads(outcome.stdout)
        return read

    count = document("count")
    assert (count["problem"], int(count["count"])) == (name, true_count(name))
    assert document("list", "--count") == {"problem": name, "count": count["count"]}
    assert document("estimate", "--walks", "1000")["problem"] == name
    drawn = document("draw", "--sample-seed", "1")["arrangement"]
    assert len(drawn) == Problem.parse(name).places


def test_campaigns_and_exports_know_families(langford: Run) -> None:
    for name in ("extended-skolem-8-hole-3", "near-skolem-8-missing-3"):
        ran = langford("run", *MEMBERS[name].split(), "--json")
        assert ran.returncode == 0, ran.stderr
        campaign = json.loads(ran.stdout)["campaign"]
        assert campaign.startswith(f"{name}-")
        assert langford("export", campaign, "--out", f"{name}.jsonl.gz").returncode == 0
        read = json.loads(langford("result", "--from", f"{name}.jsonl.gz", "--json").stdout)
        assert (read["problem"], int(read["count"])) == (name, true_count(name))
        assert langford("run", campaign).returncode == 0
        assert langford("import", f"{name}.jsonl.gz", "--ledger", "other.db").returncode == 0
        verified = langford("verify", campaign, "--sample", "100%", "--all-checks", "--ledger", "other.db")
        assert verified.returncode == 0, verified.stderr
        assert "every task was compared" in verified.stdout
        # A row without a mirror, by shifted: no zero bits, and no mirror images.  Residues and bounds are left.
        no_zeros = not Problem.parse(name).mirrored
        assert ("residue and bounds (there are no zero bits to check)" in verified.stdout) == no_zeros
    asked = json.loads(langford("query", "--sql", "SELECT problem FROM campaign", "--json").stdout)
    assert {row["problem"] for row in asked} == {"extended-skolem-8-hole-3", "near-skolem-8-missing-3"}


def test_ranks_know_families(mpirun: Mpirun) -> None:
    process = mpirun(2, "mpi", "--static", "hooked-near-skolem", "8", "--missing", "4", "--json")
    output, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    assert int(json.loads(output)["count"]) == true_count("hooked-near-skolem-8-missing-4")
