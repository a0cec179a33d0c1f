"""A problem that has no arrangement by parity or room: every command and the Python API answer at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import langford as library
from tests.support.command_line import Run

# L(2,33) takes years: a command that computes does not end in the time of a test.
IMPOSSIBLE = "33"


@pytest.mark.parametrize(
    "command", ["count 33", "run langford 33", "run skolem 34 --depth 12", "count 101", "run 101"]
)
def test_a_count_is_answered_without_a_ledger(langford: Run, tmp_path: Path, command: str) -> None:
    done = langford(*command.split())
    assert done.returncode == 0, done.stderr
    assert " = 0\n" in done.stdout
    assert "no arrangement exists, by parity" in done.stdout
    assert not list(tmp_path.glob("*.db"))
    document = json.loads(langford(*command.split(), "--json").stdout)
    assert (document["count"], document["tasks"], document["agrees"]) == ("0", 0, True)
    assert (document["method"] is None) == ("no method can" in done.stdout) == ("101" in command)


def test_nothing_is_created(langford: Run, tmp_path: Path) -> None:
    done = langford("create", "langford", IMPOSSIBLE)
    assert done.returncode == 2
    assert "L(2,33) = 0, so there is nothing to create" in done.stderr
    assert not list(tmp_path.glob("*.db"))


def test_a_list_says_that_there_is_none(langford: Run) -> None:
    for n in ("6", IMPOSSIBLE):
        done = langford("list", n)
        assert (done.returncode, done.stdout) == (0, "")
        assert f"L(2,{n}) has no arrangement" in done.stderr


def test_an_estimate_is_exact(langford: Run) -> None:
    done = langford("estimate", IMPOSSIBLE)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "L(2,33) = 0, exactly, without a walk")
    assert "no arrangement exists, by parity" in done.stdout
    document = json.loads(langford("estimate", IMPOSSIBLE, "--json").stdout)
    assert (document["estimate"], document["standard_error"], document["walks"]) == (0, 0, 0)


def test_the_api_answers_at_once() -> None:
    assert list(library.arrangements(33)) == []
    assert library.count(33) == library.count(101) == 0
    assert library.count(9, anyway=True) == 0
    assert library.estimate(33).value == 0
