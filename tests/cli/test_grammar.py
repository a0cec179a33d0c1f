"""One grammar for every command: a problem in words, and the forms of 1.x, which still work."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

import db
from langford.cli.main import cli
from langford.cli.options.groups import OF_VERSION_1
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from langford.problem.grammar import families, further_words, read
from langford.problem.sequences import IN_WORDS

FORMS = [
    ("count near-skolem 8 missing 3 --method regular", "count near-skolem 8 --missing 3 --method regular"),
    ("list 5 copies 3 --limit 2", "list 5 --copies 3 --limit 2"),
    ("list 8 defect 3 --limit 2", "list --defect 3 8 --limit 2"),
    ("list extended-rosa 4 hole 2 second-hole 7", "list extended-rosa 4 --hole 2 --second-hole 7"),
    ("list differences 1,2 over 5 empty 4", "list --differences 1,2 --places 5 --empty 4"),
    ("list cyclic 1,2,4 empty 1,4", "list cyclic --differences 1,2,4 --empty 1,4"),
    ("table 9 defect 2..3 --from 8 --dry-run", "table 9 --defect 2..3 --from 8 --dry-run"),
    ("run langford-12 --dry-run", "run 12 --dry-run"),
    ("list A004076 7 --limit 1", "list hooked-skolem 7 --limit 1"),
    ("list 12 --sample 2 --sample-seed 3", "list 12 --sample 2 --seed 3"),
    ("irregular tree 6 --json", "irregular tree langford 6 --json"),
    ("run --name 8 --dry-run", "run langford 8 --name 8 --dry-run"),
    ("verify 8 --sample-seed 3", "verify 8 --seed 3"),
]
"""Each command, and the same in a form of version 1.0."""


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A working folder with a campaign whose name is a number."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("folder"))
        with db.Ledger("langford.db", create=True) as ledger:
            key = PlanKey(Problem.langford(8), "polyphase", 4)
            ledger.create_campaign("8", key, plan_of(key).work.tolist())  # as version 1.0 created one
        assert said("run --name 8 --workers 1 --json")
        yield


def said(arguments: str) -> str:
    outcome = CliRunner().invoke(cli, arguments.split())
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


@pytest.mark.parametrize(("now", "before"), FORMS, ids=[now for now, _ in FORMS])
def test_a_form_of_version_1_does_the_same(now: str, before: str) -> None:
    times = re.compile(r"in \S+ s on.*|about \S+ s")
    assert times.sub("", said(now)) == times.sub("", said(before))


def test_the_words_are_listed() -> None:
    shown = said("families")
    assert all(word in shown for word in (*families(), *further_words(), *IN_WORDS))
    listed = json.loads(said("families --json"))
    for sequence, words in listed["sequences"].items():
        assert read(sequence).family == read(words).family


@pytest.mark.parametrize(
    "command", ["count", "list", "draw", "estimate", "run", "create", "mpi", "table", "tune METHOD"]
)
def test_every_verb_names_a_problem_in_the_same_way(command: str) -> None:
    shown = said(f"{command.split()[0]} --help")
    assert f"{command} [OPTIONS] PROBLEM".replace("tune METHOD [OPTIONS]", "tune [OPTIONS] METHOD") in shown
    assert not any(old in shown for old in [f" --{name} " for name in OF_VERSION_1])
