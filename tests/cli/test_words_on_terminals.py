"""Text of workers on a real terminal: every command shows it, and no character of it does anything there."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from db import Database
from tests.support.command_line import ENVIRONMENT, Run, run_here
from tests.support.preloaded import preloaded
from tests.support.terminals import shown

EVIL = 'a\x1b]0;b\x07\x1b[2J\x9b31m\x7f\r\n\u202e\u2066\u200e\u2028\u200b\u00ad\U000e0001,"d'
"""A title, an empty screen, a colour, lines, turned and hidden text."""
NAME = "eight"
COLUMNS = {
    "worker": ["host", "process", "kernels", "device_model", "slurm_job"],
    "attempt": ["note"],
    "event": ["detail"],
    "token": ["label"],
}
SQL = "SELECT host, process, kernels, device_model FROM worker"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger in which every text of a worker is evil."""
    made = tmp_path_factory.mktemp("evil")
    for command in (["run", "langford", "8", "--depth", "4", "--name", NAME], ["token", NAME, "--label", "board"]):
        assert run_here(command, made).returncode == 0
    with Database(str(made / "langford.db")) as database, database.writing() as connection:
        for table, columns in COLUMNS.items():
            for column in columns:
                connection.exec_driver_sql(f"UPDATE {table} SET {column} = ?", (EVIL,))
        connection.exec_driver_sql("UPDATE event SET kind = 'conflict'")
        provenance = json.dumps({"host": EVIL, "kernels": EVIL, "device_model": EVIL})
        connection.exec_driver_sql("UPDATE result SET provenance = ?", (provenance,))
        connection.exec_driver_sql("UPDATE attempt SET ended = NULL, outcome = NULL WHERE id = 1")
    return made / "langford.db"


@pytest.fixture
def folder(ledger: Path, tmp_path: Path) -> Path:
    """With a copy of it."""
    shutil.copy(ledger, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["query", SQL, "--format", "csv"],
        ["query", f'SELECT 1 AS "{EVIL[:-2]}"', "--format", "csv"],
        ["status", NAME],
        ["token", NAME, "--list"],
        ["verify", NAME, "--sample", "1"],
        ["release", NAME, "--worker", "nobody"],
        ["export", NAME, "--out", "eight\x1b[2J.jsonl.gz"],
    ],
    ids=" ".join,
)
def test_nothing_moves_a_cursor(folder: Path, arguments: list[str]) -> None:
    # The bar of a verification moves the cursor itself.
    code, screen = shown(folder, *arguments, with_errors="verify" not in arguments)
    text = screen.decode()
    assert code in (0, 2, 4), text
    assert text.strip()
    lines = text.replace("\r\n", "\n").split("\n")
    assert all(line.isprintable() for line in lines), [line for line in lines if not line.isprintable()]


def test_a_terminal_shows_what_csv_writes(folder: Path) -> None:
    """The same rows: escaped there, and to the byte in a pipe or a file."""
    arguments = ["query", SQL, "--format", "csv"]
    piped, written = (
        subprocess.run(
            [preloaded().program, *arguments, *to], cwd=folder, env=ENVIRONMENT, capture_output=True, check=True
        )
        for to in ([], ["--out", "w.csv"])
    )
    assert not written.stdout
    assert (folder / "w.csv").read_bytes() == piped.stdout
    rows = list(csv.reader(io.StringIO(piped.stdout.decode(), newline="")))
    assert rows[1] == [EVIL] * 4
    _, screen = shown(folder, *arguments)
    seen = list(csv.reader(io.StringIO(screen.decode().replace("\r\n", "\n"), newline="")))
    assert len(seen) == len(rows)
    escaped = r"a\x1b]0;b\x07\x1b[2J\x9b31m\x7f\r\n\u202e\u2066\u200e\u2028\u200b\xad\U000e0001" + ',"d'
    assert seen[1] == [escaped] * 4


def test_a_statement_of_a_stranger_is_shown(folder: Path, langford: Run) -> None:
    """It is a file that anyone may have written; words and numbers in it must agree, and may be evil."""
    assert langford("verify", NAME, "--sample", "1", "--statement", "s.txt").returncode == 0
    words, separator, body = (folder / "s.txt").read_text().partition("\n{")
    document = json.loads("{" + body)
    campaign = document["campaign"]
    changed = json.loads(json.dumps(document).replace(json.dumps(campaign), json.dumps(f"x{EVIL}")))
    assert changed != document
    text = (
        words.replace(campaign, f"x{EVIL}") + separator + json.dumps(changed, indent=2, sort_keys=True)[1:] + "\n"
    )
    (folder / "s.txt").write_text(text)
    _, screen = shown(folder, "verify", "--check", "s.txt")
    lines = screen.decode().replace("\r\n", "\n").split("\n")
    assert all(line.isprintable() for line in lines)
