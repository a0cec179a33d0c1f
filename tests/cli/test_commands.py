"""The table of commands, and the exit codes."""

from __future__ import annotations

import signal

import pytest
from click.testing import CliRunner

from db.errors import LedgerError
from jobs.run.effort import WorkersKeepDying
from langford.cli.exit_codes import code_of_error, code_of_signal
from langford.cli.main import COMMANDS, cli
from langford.errors import BadProblem, CheckFailed, Incomplete, LangfordError, WrongResult

ANY_LENGTH = 1000


def test_the_table_says_what_the_commands_say() -> None:
    for name, listed in COMMANDS.items():
        command = listed.load()
        assert (command.name, command.get_short_help_str(ANY_LENGTH)) == (name, listed.short_help)
        assert CliRunner().invoke(cli, [name, "--help"]).exit_code == 0, name


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CheckFailed("wrong"), 4),
        (Incomplete("later"), 3),
        (BadProblem("what?"), 2),
        (LedgerError("where?"), 2),
        (WorkersKeepDying("again"), 1),
        (WrongResult("wrong"), 4),
    ],
)
def test_errors_have_exit_codes(error: LangfordError, code: int) -> None:
    assert code_of_error(error) == code


def test_signals_have_exit_codes() -> None:
    assert code_of_signal(signal.SIGTERM) == 143
