"""The table of commands, the exit codes, and which modules a command loads."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from db import Ledger
from db.errors import LedgerError
from jobs.run.effort import WorkersKeepDying
from langford.cli.exit_codes import code_of_error, code_of_signal
from langford.cli.main import COMMANDS, cli
from langford.errors import BadProblem, CheckFailed, Incomplete, LangfordError, WrongResult
from tests.support.cases import exhaustive

ANY_LENGTH = 1000


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_command_says(name: str) -> None:
    command = COMMANDS[name].load()
    assert command.name == name
    assert command.get_short_help_str(ANY_LENGTH) == COMMANDS[name].short_help
    assert CliRunner().invoke(cli, [name, "--help"]).exit_code == 0


HEAVY = {"numba", "matplotlib", "alembic", "sqlalchemy.dialects.postgresql", "rich.console"}
HEAVY |= {"http.client", "httpx", "starlette"}
"""What a command that only reads a ledger, or only plans, does without."""


@pytest.mark.parametrize(
    ("arguments", "spared"),
    [
        (["run", "16", "--dry-run"], HEAVY),
        (["count", "8"], {"sqlalchemy", "httpx", "starlette", "rich"}),
        (["draw", "12"], {"numba", "numpy", "sqlalchemy"}),
        (["work", "--help"], {"numba", "sqlalchemy", "starlette"}),
        *exhaustive(
            [
                (
                    ["--help"],
                    {"numpy", "numba", "sqlalchemy", "rich", "httpx", "starlette", "langford.cli.counting"},
                ),
                (["--version"], {"numpy", "numba", "sqlalchemy", "msgspec", "rich", "importlib.metadata"}),
                (["table", "langford", "12", "--dry-run"], HEAVY),
                (["status"], {*HEAVY, "numpy", "sqlalchemy.orm", "jobs.reach.remote"}),
                (["query", "task_overview"], {*HEAVY, "numpy"}),
                (["draw", "--cubes", "3,1,2,1,3,2"], {"numba", "matplotlib", "sqlalchemy"}),
                (["run", "--help"], {"numba", "httpx", "starlette", "rich"}),
                (["mpi", "--help"], {"numba", "sqlalchemy", "httpx", "starlette", "rich"}),
                (["irregular", "--help"], {"numba", "scipy", "sqlalchemy", "httpx", "starlette", "rich"}),
            ]
        ),
    ],
)
def test_a_command_loads_only_what_it_needs(arguments: list[str], spared: set[str], tmp_path: Path) -> None:
    Ledger(str(tmp_path / "langford.db"), create=True).close()
    program = "\n".join(
        [
            "import sys",
            "from langford.cli.main import cli",
            f"cli.main({arguments!r}, standalone_mode=False)",
            f"print(*({spared!r} & sys.modules.keys()), file=sys.stderr)",
        ]
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr.splitlines()[-1] == ""


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
