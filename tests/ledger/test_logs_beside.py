"""What is beside a ledger's file, FILE-wal, FILE-journal and other names of it, and whether it belongs to it."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import ExitStack, closing
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from db import Ledger
from db.errors import LedgerUnusable
from db.store.database import Database
from db.store.places import refuse_unsafe_mount
from tests.support.campaigns import write_used_ledger
from tests.support.command_line import Run

STEPS = {"small": 10, "large": 80_000}
"""How long a commit is; with two large ones FILE-wal has more pages than the most, and SQLite starts it anew."""
MOST_PAGES = 70
Files = tuple[bytes, bytes]
"""FILE and FILE-wal."""


def read(file: Path) -> Files:
    log = Path(f"{file}-wal")
    return file.read_bytes(), log.read_bytes() if log.exists() else b""


def write(file: Path, content: Files) -> None:
    for suffix, each in zip(("", "-wal", "-shm"), (*content, b""), strict=True):
        Path(f"{file}{suffix}").write_bytes(each)


def commit(database: Database, number: int, size: int) -> None:
    values = {"number": number, "content": b"%d," % number * size}
    with database.writing() as connection:
        connection.execute(text(f"PRAGMA wal_autocheckpoint = {MOST_PAGES}"))
        connection.execute(text("DELETE FROM filler"))
        connection.execute(text("INSERT INTO filler VALUES (:number, :content)"), values)


def last_commit(database: Database) -> int:
    with database.reading() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalars().all() == ["ok"]
        [(number, content)] = connection.execute(text("SELECT number, content FROM filler"))
        assert content in [b"%d," % number * size for size in STEPS.values()]
        return int(number)


def act(step: str, number: int, ledger: Ledger, file: Path, readers: ExitStack) -> Ledger:
    if step in STEPS:
        commit(ledger.database, number, STEPS[step])
    elif step == "reopen":
        ledger.close()
        return Ledger(str(file))
    else:
        other = readers.enter_context(closing(sqlite3.connect(file, isolation_level=None)))
        other.execute("PRAGMA wal_checkpoint" if step == "checkpoint" else "BEGIN")
        other.execute("SELECT count(*) FROM filler").fetchall()
    return ledger


@settings(max_examples=5)
@given(st.lists(st.sampled_from(["small", "read", "checkpoint", "reopen"]), min_size=3, max_size=7))
@example(["large", "large", "small", "large", "large", "small"])
@example(["small", "read", "large", "checkpoint", "small", "checkpoint"])
@example(["large", "large", "reopen", "small", "large", "large", "large", "small"])
def test_a_log_is_only_written_into_a_file_that_it_continues(steps: list[str]) -> None:
    """After each step the file may be backed up, or the program be killed; then each backup meets each log.

    Those that read meanwhile leave some commits in the log alone, and it is not started anew.
    """
    with tempfile.TemporaryDirectory() as folder, ExitStack() as readers:
        file, restored = Path(folder, "a.db"), Path(folder, "b.db")
        states: list[tuple[Files, int]] = []
        ledger = Ledger(str(file), create=True)
        with ledger.database.writing() as connection:
            connection.execute(text("CREATE TABLE filler (number INTEGER, content BLOB)"))
        for number, step in enumerate(["small", *steps]):
            ledger = act(step, number, ledger, file, readers)
            states.append((read(file), last_commit(ledger.database)))
        ledger.close()
        opened_before: set[Files] = set()
        for (backup, _), (crashed, last) in product(states, states):
            together = backup[0], crashed[1]
            if (not crashed[1] and backup != crashed) or together in opened_before:
                continue
            opened_before.add(together)
            write(restored, together)
            refused = ""
            try:
                with Ledger(str(restored)) as opened:
                    assert last_commit(opened.database) == last
            except LedgerUnusable as error:
                refused = str(error)
            if refused:
                assert backup[0] != crashed[0], "what a killed program leaves is never refused"
                assert "b.db-wal does not continue" in refused
                assert read(restored) == together


@pytest.mark.parametrize("first", ["", "CREATE INDEX i ON t (x);"])
def test_the_log_of_another_database_is_not_written_into_a_ledger(
    langford: Run, tmp_path: Path, first: str
) -> None:
    """With page 1, or without it."""
    file, other = tmp_path / "langford.db", tmp_path / "other.db"
    write_used_ledger(str(file))
    with closing(sqlite3.connect(other)) as database:
        database.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (x);")
        database.executescript("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (7);" + first)
        files = file.read_bytes(), Path(f"{other}-wal").read_bytes()
    write(file, files)
    for command in (["status"], ["run", "7"], ["ledger", "copy", "langford.db", "copy.db"]):
        done = langford(*command)
        assert done.returncode == 2
        assert "langford.db-wal does not continue langford.db" in done.stderr
        assert "move langford.db-wal away to use the file as it is" in done.stderr
    assert read(file) == files
    Path(f"{file}-wal").unlink()
    assert langford("status").returncode == 0


def test_a_rollback_journal_beside_a_ledger_is_of_another_database(langford: Run, tmp_path: Path) -> None:
    file, journal = tmp_path / "langford.db", tmp_path / "langford.db-journal"
    write_used_ledger(str(file))
    with closing(sqlite3.connect(tmp_path / "other.db", isolation_level=None)) as database:
        database.execute("PRAGMA cache_size = 1")
        database.execute("CREATE TABLE t (x)")
        database.execute("BEGIN")
        for _ in range(20):
            database.execute("INSERT INTO t VALUES (zeroblob(9000))")
        journal.write_bytes((tmp_path / "other.db-journal").read_bytes())
    before = file.read_bytes(), journal.read_bytes()
    assert before[1]
    done = langford("status")
    assert done.returncode == 2
    assert "langford.db-journal belongs to another database than" in done.stderr
    assert (file.read_bytes(), journal.read_bytes()) == before
    journal.write_bytes(bytes(512))  # SQLite reads no more of it
    assert langford("status").returncode == 0


def test_a_ledger_whose_creation_was_killed_is_created(langford: Run, tmp_path: Path) -> None:
    """SQLite needs a rollback journal once, to decide that later commits go to FILE-wal."""
    file = tmp_path / "langford.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA journal_mode = WAL")
    # Of a file that was empty, with sectors of 512 bytes and pages of 4,096.
    numbers = (0, 7, 0, 512, 4096)
    head = bytes.fromhex("d9d505f920a163d7") + b"".join(number.to_bytes(4, "big") for number in numbers)
    Path(f"{file}-journal").write_bytes(head.ljust(512, b"\0"))
    assert langford("create", "7").returncode == 0
    assert [each.name for each in tmp_path.iterdir()] == ["langford.db"]


def test_a_ledger_with_two_names_is_refused(langford: Run, tmp_path: Path) -> None:
    """SQLite would keep a log beside each name, and overwrite what was committed by the other one."""
    file = tmp_path / "langford.db"
    write_used_ledger(str(file))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "other.db").hardlink_to(file)
    for name in ("langford.db", "folder/other.db"):
        done = langford("status", "--ledger", name)
        assert done.returncode == 2
        assert f"{name} has 2 names (hard links)" in done.stderr
    (tmp_path / "folder" / "other.db").unlink()
    (tmp_path / "link.db").symlink_to(file)
    assert langford("status", "--ledger", "link.db").returncode == 0


def test_a_ledger_that_is_mounted_without_its_folder_is_refused(tmp_path: Path) -> None:
    """As with ``docker run --volume l.db:/data/l.db``: its log would be in the container alone."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 8:1 / / rw - overlay overlay rw\n"
        "23 22 8:2 /home/me/l.db /data/l.db rw - ext4 /dev/sda2 rw\n"
        "24 22 8:2 /home/me /all rw - ext4 /dev/sda2 rw\n"
    )
    with pytest.raises(LedgerUnusable, match=r"l\.db is mounted without its folder"):
        refuse_unsafe_mount(Path("/data/l.db"), mounts)
    refuse_unsafe_mount(Path("/data/other.db"), mounts)
    refuse_unsafe_mount(Path("/all/l.db"), mounts)
