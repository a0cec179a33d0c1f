"""Outputs in ASCII only, terminals that cannot move their cursor, and those without colours."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from langford.cli.output.display import IN_ASCII, READABLE
from tests.support.command_line import ENVIRONMENT, run_here
from tests.support.preloaded import ALONE, preloaded
from tests.support.terminals import Terminal

NAME = "eight"
COMMANDS = [
    "--help",
    "count 8",
    "count 13",
    "draw 7 --sample-seed 1",
    "draw --cubes 3,1,2,1,3,2,0",
    "estimate 20 --walks 100",
    "list 6",
    "status",
    f"status {NAME}",
    f"verify {NAME} --sample 1",
    f"report {NAME} --out report.html",
    "query SELECT/**/*FROM/**/task_overview --format expanded",
    "run langford 7",
    "table skolem 5",
    "irregular tree langford 6",
]
STYLED = [
    "--help",
    "count 13",
    "draw 7 --sample-seed 1",
    f"status {NAME}",
    "query SELECT/**/*FROM/**/task_overview",
    "irregular tree langford 6",
]
"""Those with bars, colours or bold text."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a ledger that has a finished campaign."""
    made = tmp_path_factory.mktemp("terminals")
    assert run_here(["run", "langford", "8", "--depth", "4", "--name", NAME], made).returncode == 0
    return made


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("command", COMMANDS)
def test_ascii_is_enough(folder: Path, command: str) -> None:
    done = run_here(command.split(), folder, encoding="ascii")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert said.isascii()
    assert not re.search(r"\\[uxN]", said), said


@pytest.mark.parametrize(
    ("variables", "acts"), [({"TERM": "dumb"}, r"\x1b|\r(?!\n)"), ({"TERM": "xterm"}, r"\x1b\[[0-9;]*m")]
)
def test_terminals_without_a_cursor_or_colours(folder: Path, variables: dict[str, str], acts: str) -> None:
    """ENVIRONMENT has NO_COLOR; a bar still moves the cursor, where there is one."""
    for command in STYLED:
        terminal = Terminal()
        with os.fdopen(os.dup(terminal.end), "w") as end:
            started = preloaded().start(command.split(), folder, ENVIRONMENT | variables, end, end, prepare=ALONE)
            code = started.wait(60)
        terminal.drain()
        shown = terminal.shown.decode()
        assert code == 0, shown
        assert not re.search(acts, shown), (command, shown)


def test_characters_in_ascii() -> None:
    assert all(text.isascii() for text in IN_ASCII.values())
    assert "L(2,8) ≈ 1 ± 2…, 漢".encode("ascii", READABLE) == rb"L(2,8) ~ 1 +/- 2..., \u6f22"
    assert b"\xff".decode("ascii", READABLE) == r"\xff"
