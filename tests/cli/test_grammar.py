"""One grammar for every command: a problem in words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from langford.cli.main import cli
from langford.problem.grammar import families, further_words, read
from langford.problem.sequences import OEIS

SAME = [
    ("run langford-12 --dry-run", "run 12 --dry-run"),
    ("list A004076 7 --limit 1", "list hooked-skolem 7 --limit 1"),
    ("list cyclic-1.2.4-over-8-empty-1.4 --limit 1", "list cyclic 1,2,4 empty 1,4 --limit 1"),
    ("irregular tree 6 --json", "irregular tree langford 6 --json"),
]


def said(arguments: str) -> str:
    outcome = CliRunner().invoke(cli, arguments.split())
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


@pytest.mark.parametrize(("words", "others"), SAME)
def test_a_problem_has_several_names(
    words: str, others: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    times = re.compile(r"in \S+ s on.*|about \S+ s")
    assert times.sub("", said(words)) == times.sub("", said(others)) != ""


def test_the_words_are_listed() -> None:
    shown = said("families")
    assert all(word in shown for word in (*families(), *further_words(), *OEIS))
    listed = json.loads(said("families --json"))
    for sequence, words in listed["sequences"].items():
        assert read(sequence).family == read(words).family


@pytest.mark.parametrize(
    "command", ["count", "list", "draw", "estimate", "run", "create", "mpi", "table", "tune METHOD"]
)
def test_every_verb_names_a_problem_in_the_same_way(command: str) -> None:
    shown = said(f"{command.split()[0]} --help")
    assert f"{command} [OPTIONS] PROBLEM".replace("tune METHOD [OPTIONS]", "tune [OPTIONS] METHOD") in shown
