"""Files and databases that are not what they should be: a clear line, nothing damaged."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest

from db import Database, Ledger
from db.errors import LedgerUnusable
from db.store.places import refuse_unsafe_mount
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from tests.support.campaigns import HOUR, new_campaign, write_used_ledger
from tests.support.cases import few
from tests.support.command_line import ENVIRONMENT, Run
from tests.support.disks import mounted
from tests.support.preloaded import ALONE as IN_PROCESS
from tests.support.preloaded import preloaded
from tests.system.resting import ANSWER, CAMPAIGN


def refused(langford: Run, *arguments: str) -> str:
    """What a command says that cannot use the ledger."""
    done = langford(*arguments)
    assert done.returncode == 2, (arguments, done.stdout)
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("content", [b"", b"just text\n" * 100, b"SQLite format 3\x00" + os.urandom(4096)])
def test_files_that_are_no_database(langford: Run, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "notes.db"
    file.write_bytes(content)
    assert "notes.db is" in refused(langford, "status", "--ledger", "notes.db")
    assert file.read_bytes() == content


def test_only_its_owner_can_read_a_ledger(langford: Run, tmp_path: Path) -> None:
    """It holds the secret of the draw, with which a worker would know which lies are noticed."""
    assert langford("run", "7", "--name", "seven").returncode == 0
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        ledger.campaign("seven").operator.raise_share(0.5)
        made = [entry.name for entry in tmp_path.glob("langford.db*")]
        assert {"langford.db", "langford.db-wal", "langford.db-shm"} <= {*made}
        assert {entry.stat().st_mode & 0o777 for entry in tmp_path.glob("langford.db*")} == {0o600}
    assert langford("ledger", "copy", "langford.db", "copy.db").stderr == ""
    (tmp_path / "langford.db").chmod(0o644)
    assert "others on this machine may read langford.db" in langford("status").stderr
    assert langford("delete", "seven", "--yes", "--out", "kept.jsonl.gz").returncode == 0
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("copy.db", "kept.jsonl.gz")} == {0o600}


def test_a_ledger_that_was_cut_short_is_damaged_and_left_alone(langford: Run, tmp_path: Path) -> None:
    file = tmp_path / "langford.db"
    write_used_ledger(str(file))
    os.truncate(file, file.stat().st_size // 2)
    before = file.read_bytes()
    for command in (["status"], ["run", "langford", "7"], ["ledger", "copy", "langford.db", "copy.db"]):
        said = refused(langford, *command)
        assert "the ledger langford.db is damaged (its end is missing)" in said
    assert file.read_bytes() == before
    assert not (tmp_path / "copy.db").exists()


def test_a_ledger_that_a_process_opens_twice_keeps_its_commits(langford: Run, tmp_path: Path) -> None:
    """A process that closes a file loses its locks on it: another one must not take FILE-wal away."""
    file = str(tmp_path / "langford.db")
    assert langford("create", "langford", "7").returncode == 0
    with Ledger(file) as ledger:
        Ledger(file).close()
        assert langford("create", "langford", "8").returncode == 0
        ledger.create_campaign("third", plan_of(PlanKey(Problem.langford(8), "polyphase", 2)).key, [1.0] * 4)
        assert "third" in langford("status").stdout


def test_a_connection_of_ones_own_keeps_its_locks(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    Ledger(str(file), create=True).close()
    with closing(sqlite3.connect(file)) as own:
        own.execute("SELECT count(*) FROM campaign").fetchone()
        Ledger(str(file)).close()
        take = f"import fcntl; fcntl.lockf(open({str(file)!r}, 'r+b'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
        taken = subprocess.run([sys.executable, "-c", take], capture_output=True, text=True, check=False)
    assert "BlockingIOError" in taken.stderr


def test_pages_that_were_overwritten_are_called_damage(langford: Run, tmp_path: Path) -> None:
    file = tmp_path / "langford.db"
    write_used_ledger(str(file))
    with file.open("r+b") as stream:
        stream.seek(8192)
        stream.write(b"\xff" * (file.stat().st_size - 8192))
    said = refused(langford, "status")
    assert "the ledger langford.db is damaged (database disk image is malformed)" in said


def test_databases_of_other_programs_and_versions(langford: Run, tmp_path: Path) -> None:
    for name, statement in (
        ("later.db", "UPDATE alembic_version SET version_num = '9999'"),
        ("lost.db", "DELETE FROM alembic_version"),
    ):
        write_used_ledger(str(tmp_path / name))
        with sqlite3.connect(tmp_path / name) as database:
            database.execute(statement)
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE recipes (name TEXT)")
    for command in (["run", "langford", "7"], ["status"]):
        assert "not a ledger" in refused(langford, *command, "--ledger", "other.db")
        said = refused(langford, *command, "--ledger", "later.db")
        assert "schema 9999" in said
        assert "use the version that wrote it" in said
        assert "lost the number of its schema" in refused(langford, *command, "--ledger", "lost.db")
    with sqlite3.connect(tmp_path / "other.db") as database:
        assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]


def test_campaigns_of_later_versions(langford: Run, tmp_path: Path) -> None:
    assert langford("run", "langford", "7", "--name", "seven").returncode == 0
    assert langford("create", "langford", "8", "--name", "eight").returncode == 0
    with closing(sqlite3.connect(tmp_path / "langford.db")) as database:
        database.execute("UPDATE campaign SET method = 'quantum' WHERE name = 'eight'")
        database.commit()
        assert "eight" in langford("status").stdout
        assert "quantum" in langford("status", "eight").stdout
        said = refused(langford, "run", "eight")
        assert "there is no method 'quantum'" in said
        assert said.endswith("use the version that created it\n")
        database.execute("UPDATE campaign SET problem = 'magic-8' WHERE name = 'eight'")
        database.commit()
    said = refused(langford, "status")
    assert "cannot read the campaign eight (there is no family 'magic'" in said
    assert said.endswith("use the version that created it\n")


@pytest.mark.parametrize("kind", ["nfs4", "lustre"])
def test_network_file_systems_are_refused(tmp_path: Path, kind: str) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        f"23 22 0:45 / /home rw shared:1 - {kind} server:/home rw\n"
        "24 23 8:2 / /home/local rw - ext4 /dev/sdb1 rw\n"
    )
    with pytest.raises(LedgerUnusable, match=f"on {kind} \\(/home\\)"):
        refuse_unsafe_mount(Path("/home/me/ledger.db"), mounts)
    refuse_unsafe_mount(Path("/home/local/ledger.db"), mounts)
    refuse_unsafe_mount(Path("/tmp/ledger.db"), mounts)
    refuse_unsafe_mount(Path("/home/me/ledger.db"), tmp_path / "missing")


@pytest.mark.exhaustive
def test_a_full_disk_loses_nothing(langford: Run, small_disk: Path, tmp_path: Path) -> None:
    run = ["run", "langford", "12", "--depth", "16", "--name", "full", "--ledger", "disk/ledger.db"]

    def is_told(done: subprocess.CompletedProcess[str]) -> None:
        assert done.returncode == 2, done.stderr
        assert "no space left" in done.stderr
        assert "repeat the command" in done.stderr
        assert "Traceback" not in done.stderr

    is_told(langford(*run))
    # Room to create the campaign, then for some of its results, then for all.
    subprocess.run(["mount", "-o", "remount,size=12m", str(small_disk)], check=True)
    assert langford(*run, "--time-limit", "0").returncode == 3
    filler = small_disk / "filler"
    used = sum(file.stat().st_size for file in small_disk.iterdir())
    filler.write_bytes(b"0" * (12 * 2**20 - used - 200_000))
    stopped = preloaded().start(run, tmp_path, ENVIRONMENT, subprocess.PIPE, subprocess.PIPE, prepare=IN_PROCESS)
    _, errors = stopped.communicate()
    is_told(subprocess.CompletedProcess(run, stopped.returncode, stderr=errors))  # its leases end with its process
    filler.unlink()
    done = langford(*run)
    assert done.returncode == 0, done.stderr
    assert "L(2,12) = 108,144" in done.stdout


def test_a_disk_without_inodes_is_named(langford: Run, tmp_path: Path) -> None:
    """Space is free there, but not even the log of SQLite can be made."""
    assert langford(*CAMPAIGN).returncode == 0
    assert langford("export", "soak", "-o", "results.gz").returncode == 0
    with mounted(tmp_path / "disk", "size=64m,nr_inodes=9") as disk:
        shutil.copy(tmp_path / "langford.db", disk)
        with suppress(OSError):
            for number in range(9):
                (disk / str(number)).touch()
        for command in (
            *(f"{verb} soak -l disk/langford.db" for verb in ("run", "status", "serve", "export")),
            "import results.gz -l disk/new.db",
            "ledger copy langford.db disk/copy.db",
            "export soak -o disk/new.gz",
        ):
            done = langford(*command.split())
            assert done.returncode == 2, command
            assert "no room for another file: its file system has no free inode" in done.stderr, command


def test_a_limit_on_the_size_of_files_loses_nothing(langford: Run) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limits[1]))
    try:
        stopped = langford(*CAMPAIGN)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert stopped.returncode == 2, stopped.stderr
    assert "what was committed is safe; check the free space, the quota, the limit on the size" in stopped.stderr
    assert langford(*CAMPAIGN).stdout.startswith(ANSWER)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_ledger_goes_on_when_its_file_is_back(tmp_path: Path, replaced: bool) -> None:
    file, elsewhere, another = (tmp_path / name for name in ("ledger.db", "elsewhere.db", "another.db"))
    write_used_ledger(str(another))
    with Ledger(str(file), create=True) as ledger:
        campaign = new_campaign(ledger)
        file.rename(elsewhere)
        if replaced:
            another.rename(file)
        for act in (
            campaign.reader.standing,
            partial(campaign.operator.rename, "eight"),
            partial(campaign.worker.lease, "a", 1, HOUR),
        ):
            with pytest.raises(LedgerUnusable, match="was moved, deleted or replaced"):
                act()
        if not replaced:
            with pytest.raises(LedgerUnusable, match=r"delete ledger\.db-wal"):
                Ledger(str(file), create=True)
        elsewhere.rename(file)
        campaign.operator.rename("nine")
    with Ledger(str(file)) as ledger:
        assert [campaign.name for campaign in ledger.campaigns()] == ["nine"]


@pytest.mark.parametrize("name", few(["a?1.db", "a%31.db", "a?timeout=soon", "a#b.db", "file:a?mode=memory"], 2))
def test_a_file_name_is_that_file_whatever_its_characters(langford: Run, tmp_path: Path, name: str) -> None:
    here = ("--ledger", name)
    assert langford("run", "langford", "7", "--name", "seven", *here).returncode == 0
    assert langford("status", "seven", *here).returncode == 0
    assert langford("ledger", "copy", name, f"copy of {name}").returncode == 0
    assert langford("delete", "seven", "--yes", *here).returncode == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([name, f"copy of {name}", "seven.jsonl.gz"])
    assert langford("result", "seven", "--ledger", f"copy of {name}").returncode == 0


def test_links_that_lead_in_a_circle_are_no_ledger(langford: Run, tmp_path: Path) -> None:
    (tmp_path / "round.db").symlink_to("round.db")
    said = refused(langford, "run", "langford", "7", "--ledger", "round.db")
    assert "SQLite cannot open the ledger round.db" in said


def test_readers_do_not_wait_for_a_writer(langford: Run, tmp_path: Path) -> None:
    write_used_ledger(str(tmp_path / "langford.db"))
    with closing(sqlite3.connect(tmp_path / "langford.db")) as holder:
        holder.execute("BEGIN IMMEDIATE")
        status = langford("status")
    assert status.returncode == 0, status.stderr


@pytest.fixture
def archive(langford: Run, small_disk: Path) -> Path:
    """A ledger with a finished campaign on a read-only disk."""
    subprocess.run(["mount", "-o", "remount,size=12m", str(small_disk)], check=True)
    file = small_disk / "an archive #1.db"
    done = langford("run", "langford", "7", "--name", "seven", "--ledger", str(file), "--workers", "1")
    assert done.returncode == 0, done.stderr
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    return file


def test_an_archive_opens_with_every_reading_command(langford: Run, archive: Path, tmp_path: Path) -> None:
    ledger = ("--ledger", str(archive))
    before = archive.read_bytes()
    for command in (
        ["status"],
        ["status", "seven", "--json"],
        ["tasks", "seven"],
        ["result", "seven"],
        ["token", "seven", "--list"],
        ["export", "seven", "--out", str(tmp_path / "seven.jsonl.gz")],
    ):
        done = langford(*command, *ledger)
        assert done.returncode == 0, (command, done.stderr)
    assert "= 26" in langford("result", "seven", *ledger).stdout
    assert langford("result", "--from", "seven.jsonl.gz").returncode == 0
    assert [file.name for file in archive.parent.iterdir()] == [archive.name]
    assert archive.read_bytes() == before


def test_an_archive_is_not_changed(langford: Run, archive: Path) -> None:
    for command in (["retry", "seven"], ["run", "langford", "8"], ["token", "seven"], ["serve", "seven"]):
        assert "is read-only here" in refused(langford, *command, "--ledger", str(archive))
    with Database(str(archive)) as database:
        assert database.folder is None  # its disk does not fill up


def test_an_archive_is_not_read_without_what_waits_beside_it(langford: Run, small_disk: Path) -> None:
    """What is committed may still stand in the -wal file: a ledger that was copied while it was written."""
    subprocess.run(["mount", "-o", "remount,size=12m", str(small_disk)], check=True)
    file = small_disk / "ledger.db"
    assert langford("run", "langford", "7", "--name", "seven", "--ledger", str(file)).returncode == 0
    keeper = sqlite3.connect(file)
    keeper.execute("UPDATE campaign SET name = 'renamed'")
    keeper.commit()
    copies = small_disk / "copied"
    copies.mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(f"{file}{suffix}", copies / f"ledger.db{suffix}")
    keeper.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    done = langford("status", "--ledger", str(copies / "ledger.db"))
    assert "seven" not in done.stdout
    assert done.returncode == 2 or "renamed" in done.stdout
