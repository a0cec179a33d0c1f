"""One grammar for every command: [VARIANT] N, and the forms of version 1.0, which still work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from click.testing import CliRunner

import db
from langford.cli.main import cli
from langford.methods import PlanKey, plan_of
from langford.problem import Problem

FORMS = [
    ("list rosa 7", "list 7 --variant rosa"),
    ("list langford 8 --count", "list 8 --count"),
    ("list 12 --sample 2 --sample-seed 3", "list 12 --sample 2 --seed 3"),
    ("draw skolem 5 --sample-seed 1 --json", "draw 5 --seed 1 --variant skolem --json"),
    ("estimate skolem 9 --walks 100 --sample-seed 4", "estimate 9 --walks 100 --seed 4 --variant skolem"),
    ("table rosa 9 --dry-run", "table rosa --to 9 --dry-run"),
    ("table 9 --from 8 --dry-run --json", "table langford --from 8 --to 9 --dry-run --json"),
    ("irregular tree 6 --json", "irregular tree langford 6 --json"),
    ("run --name 8 --dry-run", "run langford 8 --name 8 --dry-run"),
    ("verify 8 0", "verify 8 --tasks 0"),
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
def test_a_form_of_version_1_0_does_the_same(now: str, before: str) -> None:
    assert said(now) == said(before)


def test_a_number_is_n_and_no_name() -> None:
    assert "campaign langford-8-polyphase-0 (would be created)" in said("run 8 --dry-run")
    assert "campaign 8 (is resumed)" in said("run --name 8 --dry-run")


@pytest.mark.parametrize(
    "command", ["count", "list", "draw", "estimate", "run", "create", "mpi", "table", "tune METHOD"]
)
def test_every_verb_names_a_problem_in_the_same_way(command: str) -> None:
    shown = said(f"{command.split()[0]} --help")
    assert f"{command} [OPTIONS] [VARIANT] N".replace("tune METHOD [OPTIONS]", "tune [OPTIONS] METHOD") in shown
    assert not any(old in shown for old in ("--variant", "--to ", "--n "))
