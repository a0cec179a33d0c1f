"""What a start loads: whoever needs no kernel, no database or no network does not wait for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.command_line import ENVIRONMENT

SLOW = {
    "alembic",
    "cupy",
    "httpx",
    "importlib.metadata",
    "matplotlib",
    "mpi4py",
    "numba",
    "numpy",
    "rich",
    "scipy",
    "sqlalchemy",
    "starlette",
    "uvicorn",
}
PROGRAM = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
sys.argv[1:] = {arguments!r}
from langford.cli.main import main
main()
"""


def loaded(program: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    return SLOW & {*done.stderr.splitlines()[-1].split()}


COMMANDS: dict[str, set[str]] = {
    "--version": set(),
    "--help": set(),
    "list 4": {"importlib.metadata"},
    "count 8": {"numba", "numpy", "importlib.metadata"},
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_loads_what_it_needs(command: str) -> None:
    needed = COMMANDS[command]
    others = {"scipy"} if "numba" in needed else set()  # numba looks at it
    assert loaded(PROGRAM.format(arguments=command.split())) - others == needed


@pytest.mark.parametrize(
    ("module", "needed"),
    [
        ("langford", set()),
        ("langford.methods", set()),
        ("langford.ledger", {"numpy", "sqlalchemy", "importlib.metadata"}),
        ("jobs.reach.remote", {"httpx"}),
    ],
)
def test_a_module_loads_what_it_needs(module: str, needed: set[str]) -> None:
    assert loaded(f"import sys, {module}\nprint(*sys.modules, file=sys.stderr)") <= needed
