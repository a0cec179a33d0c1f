"""Malicious files: each is refused in one line, in bounded time and memory, and changes nothing."""

from __future__ import annotations

import itertools
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from db import Database, Ledger
from db.errors import BadExport
from db.schema.models import Base
from db.states import Role
from jobs.verify import exchange
from tests.support.campaigns import TASKS, new_campaign, true_deliveries
from tests.support.command_line import ENVIRONMENT, Run, without_announcement
from tests.support.databases import new_address
from tests.support.malicious_exports import malicious

FILES = dict(malicious())
CALLS = 10_000_000
"""Of functions; they cannot depend on what else this machine does, as a time would."""
KIBIBYTES = 250 * 2**10
"""Of memory; the command needs half of it to start."""
WRONG_RESULTS = ["value: another one", "value: odd", "residue: not reduced", "values swapped"]
SAMPLE = [*WRONG_RESULTS, *list(FILES)[::24]]
"""Those whose form is right, and some of the others."""


LARGE = ["1 GiB of zeros", "256 MiB of sources of two million tasks", "depth: much memory"]
IMPORTING = """
import sys
from langford.cli.main import main
for file in sys.argv[1:]:
    sys.argv = ["langford", "import", file, "--ledger", "new.db"]
    try:
        main()
    except SystemExit as ended:
        assert ended.code == 2
print(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
"""
"""Imports files, each of which is refused, and prints the most memory that this took, in KiB."""


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


@contextmanager
def calls_counted() -> Iterator[Iterator[int]]:
    """Yields an iterator whose next number is how many times functions were called, or returned, in the block."""
    calls = itertools.count()
    sys.setprofile(lambda *_: next(calls))
    try:
        yield calls
    finally:
        sys.setprofile(None)


def test_every_malicious_file_is_refused_in_one_line(tmp_path: Path) -> None:
    """As the commands read it, before they open a ledger."""
    assert len(FILES) >= 80
    file = tmp_path / "malicious.gz"
    for label, content in FILES.items():
        file.write_bytes(content)
        with pytest.raises(BadExport) as refused, calls_counted() as calls:
            exchange.validated(file)
        assert next(calls) < CALLS, label
        assert str(refused.value).isprintable(), label
        assert len(str(refused.value)) < 1_000 + len(str(file)), label


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_malicious_file_changes_nothing(langford: Run, tmp_path: Path, kind: str) -> None:
    """In a ledger in use: a campaign half done, with a token."""
    where, file = new_address(kind, tmp_path), tmp_path / "malicious.gz"
    with Ledger(where) as ledger:
        campaign = new_campaign(ledger)
        campaign.operator.new_token(Role.WORKER)
        campaign.worker.deliver(true_deliveries(campaign.worker.lease("a", TASKS // 2, 60)))
    before = dump(where)
    for label in SAMPLE:
        file.write_bytes(FILES[label])
        done = langford("import", str(file), "--ledger", where)
        assert (done.returncode, done.stdout) == (2, ""), label
        assert len(without_announcement(done.stderr).splitlines()) == 1, label
        assert dump(where) == before, label


def test_memory_is_bounded_and_no_ledger_made(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.gz" for number in range(len(LARGE))]
    for file, label in zip(files, LARGE, strict=True):
        file.write_bytes(FILES[label])
    command = [sys.executable, "-c", IMPORTING, *map(str, files)]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert len(without_announcement(done.stderr).splitlines()) == len(files)
    assert int(done.stdout) < KIBIBYTES, done.stderr
    assert sorted(tmp_path.iterdir()) == files
