"""Malicious files: each is refused in one line, in bounded time and memory, and changes nothing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from db import Database, Ledger
from db.schema.models import Base
from db.states import Role
from langford.cli.main import main
from tests.support.campaigns import NAME, TASKS, new_campaign, true_deliveries
from tests.support.command_line import COMMAND, ENVIRONMENT, without_announcement
from tests.support.databases import new_address
from tests.support.malicious_exports import honest, malicious, packed

FILES = dict(malicious())
SECONDS = 2.0
KIBIBYTES = 250 * 2**10
"""Of memory; the command needs half of it to start."""
SAMPLE = [label for number, label in enumerate(FILES) if number % 12 == 0]


def dump(where: str) -> str:
    """Everything in a ledger: all rows, and for Postgres the numbers that its sequences give next."""
    if "://" not in where:
        with closing(sqlite3.connect(where)) as ledger:
            return "\n".join(ledger.iterdump())
    with Database(where) as database, database.reading() as connection:
        lines = []
        for table in Base.metadata.sorted_tables:
            order = ", ".join(column.name for column in table.primary_key.columns)
            lines += [
                f"{table.name} {tuple(row)}"
                for row in connection.execute(text(f"SELECT * FROM {table.name} ORDER BY {order}"))
            ]
        rows = connection.execute(text("SELECT sequencename, last_value FROM pg_sequences ORDER BY 1"))
        lines += [str(tuple(row)) for row in rows]
    return "\n".join(lines)


class Used:
    """A ledger in use: a campaign half done, with a token.

    Attributes:
        where: the ledger.
        before: its dump.
        file: where each malicious file is written.
    """

    def __init__(self, kind: str, folder: Path) -> None:
        self.where, self.file = new_address(kind, folder), folder / "malicious.gz"
        with Ledger(self.where) as ledger:
            campaign = new_campaign(ledger)
            campaign.new_token(Role.WORKER)
            campaign.deliver(true_deliveries(campaign.lease("a", TASKS // 2, 60)))
        self.before = dump(self.where)


@pytest.fixture(scope="module")
def used(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Used:
    return Used(request.param, tmp_path_factory.mktemp("used"))


def test_there_are_enough() -> None:
    assert len(FILES) >= 80


def test_the_honest_file_is_taken(tmp_path: Path) -> None:
    (tmp_path / "honest.gz").write_bytes(packed(honest()))
    command = [*COMMAND, "import", "honest.gz", "--ledger", "new.db"]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(f"honest.gz: {TASKS} new results of {NAME}\n"), done.stderr


@pytest.mark.parametrize(
    ("used", "label"),
    [*(("sqlite", label) for label in FILES), *(("postgres", label) for label in SAMPLE)],
    indirect=["used"],
    scope="module",
)
def test_a_malicious_file_changes_nothing(
    used: Used, label: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    used.file.write_bytes(FILES[label])
    monkeypatch.setattr(sys, "argv", ["langford", "import", str(used.file), "--ledger", used.where])
    started = time.process_time()
    with pytest.raises(SystemExit) as ended:
        main()
    assert time.process_time() - started < SECONDS
    output = capsys.readouterr()
    assert ended.value.code == 2
    assert output.out == ""
    errors = without_announcement(output.err)
    assert len(errors.splitlines()) == 1
    assert errors.removesuffix("\n").isprintable()
    assert len(errors) < 1_000 + len(str(used.file))
    assert dump(used.where) == used.before


@pytest.mark.parametrize(
    "label", ["1 GiB of zeros", "256 MiB of sources of two million tasks", "depth: much memory"]
)
def test_memory_is_bounded_and_no_ledger_made(tmp_path: Path, label: str) -> None:
    (tmp_path / "bomb.gz").write_bytes(FILES[label])
    program = (
        "from langford.cli.main import main\ntry:\n    main()\nfinally:\n"
        "    print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "import", "bomb.gz", "--ledger", "new.db"],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert len(without_announcement(done.stderr).splitlines()) == 1
    assert int(done.stdout) < KIBIBYTES
    assert [file.name for file in tmp_path.iterdir()] == ["bomb.gz"]
