"""The place of a ledger's SQLite file, and whether the file is still there.

SQLite continues to use a file that was moved or deleted, and keeps its last commits in a second file, FILE-wal,
which stays behind.  Later commits would be lost, and a new ledger of the old name would destroy that second file.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from db.errors import LedgerUnusable
from langford.machine.durable import sync_folder, take_name, unfinished_beside
from langford.machine.kept import say_once

NETWORK_FILE_SYSTEMS = {
    "nfs",
    "nfs4",
    "lustre",
    "gpfs",
    "beegfs",
    "cifs",
    "smb3",
    "smbfs",
    "afs",
    "ceph",
    "glusterfs",
    "fuse.glusterfs",
    "fuse.sshfs",
    "orangefs",
    "pvfs2",
    "panfs",
    "wekafs",
}


class Place:
    """The place of an open file.  No other file can get its inode number meanwhile."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._absolute = file.absolute()  # a program may change its working folder
        self._number = self._number_now()
        self.require()

    def require(self) -> None:
        """Raises LedgerUnusable when another file is there, or none."""
        if self._number is None or self._number_now() != self._number:
            raise LedgerUnusable(
                f"{self._file} was moved, deleted or replaced while it was in use: move that same file back "
                f"({waiting_beside(self._file).name} may hold its last commits), then repeat; or start "
                "again with another ledger"
            )

    def _number_now(self) -> tuple[int, int] | None:
        with suppress(OSError):
            status = os.stat(self._absolute)
            return status.st_dev, status.st_ino
        return None


@contextmanager
def new_file(file: Path | None) -> Iterator[Path | None]:
    """A file beside another, whose name it gets at the end of the block, unless that exists meanwhile.

    It is deleted after an error.  None where the ledger has no file, or one with content.  Raises LedgerUnusable.
    """
    if file is None or (file.exists() and file.stat().st_size):
        yield None
        return
    file = Path(os.path.realpath(file))
    unfinished = unfinished_beside(file)
    try:
        yield unfinished
        if holds_commits(waiting_beside(unfinished)):
            raise LedgerUnusable(
                f"cannot create the ledger {file}: no space is left, or another program has opened {unfinished}; "
                "free some space or end that program, then repeat"
            )
        _give_name(unfinished, file)
    finally:
        for each in (unfinished, waiting_beside(unfinished), Path(f"{unfinished}-shm")):
            with suppress(OSError):
                each.unlink()


def _give_name(unfinished: Path, file: Path) -> None:
    """Raises LedgerUnusable when another file has the name."""
    try:
        if not file.exists():
            take_name(file)
        if file.stat().st_size:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        unfinished.replace(file)
        sync_folder(file.parent)
    except OSError as error:
        raise LedgerUnusable(f"cannot create the ledger {file} ({error.strerror}): choose another file") from error


def create_private(file: Path) -> None:
    """Create an empty file for its owner alone, unless there is one: it will hold the secret of the draw.

    SQLite gives FILE-wal and FILE-shm the mode of FILE.  Where the file cannot be made, SQLite says why.
    """
    with suppress(OSError):
        take_name(Path(os.path.realpath(file)))


def waiting_beside(file: Path) -> Path:
    return Path(f"{os.path.realpath(file)}-wal")  # SQLite follows links first


def journal_beside(file: Path) -> Path:
    return Path(f"{os.path.realpath(file)}-journal")


def holds_commits(waiting: Path) -> bool:
    try:
        return waiting.stat().st_size > 0
    except OSError:
        return False


def refuse_to_replace(file: Path) -> None:
    """Raises LedgerUnusable when a new ledger would destroy the last commits of an earlier one."""
    waiting = waiting_beside(file)
    # In this order: a ledger that is being created has its file before its first commits.
    if holds_commits(waiting) and not file.exists():
        raise LedgerUnusable(
            f"{file} was moved or deleted, and {waiting.name} holds its last commits: move it back; or, if it is "
            f"no longer needed, delete {waiting.name}"
        )


def say_if_others_read(file: Path) -> None:
    """Say once of a file of this user that it is not for its owner alone."""
    with suppress(OSError):
        status = file.stat()
        if status.st_uid == os.geteuid() and status.st_mode & 0o077:
            say_once(f"others on this machine may read {file}, and the secret of the draw in it: chmod 600 {file}")


def refuse_two_names(file: Path) -> None:
    """Raises LedgerUnusable for a file with several names: each name has a FILE-wal of its own."""
    if file.is_file() and (names := file.stat().st_nlink) > 1:
        raise LedgerUnusable(
            f"{file} has {names} names (hard links), and SQLite keeps a log beside each of them: delete the others "
            f"(`find FOLDER -samefile {file.name}` lists them), or use a copy"
        )


def refuse_unsafe_mount(file: Path, mounts: Path = Path("/proc/self/mountinfo")) -> None:
    """Raises LedgerUnusable when ``file`` is on a network file system, or is mounted without what is beside it.

    ``mounts``: the list of mounts of Linux; without it, nothing is checked.
    """
    if not mounts.exists():
        return
    place = Path(os.path.realpath(file))
    mount_point, kind = Path("/"), ""
    for line in mounts.read_text().splitlines():
        fields = line.split()
        candidate = Path(fields[4].replace("\\040", " "))
        if candidate == place:
            raise LedgerUnusable(
                f"{file} is mounted without its folder, where SQLite keeps its log: mount the folder instead"
            )
        if place.parent.is_relative_to(candidate) and len(candidate.parts) >= len(mount_point.parts):
            mount_point, kind = candidate, fields[fields.index("-") + 1]
    if kind in NETWORK_FILE_SYSTEMS:
        raise LedgerUnusable(
            f"{file} is on {kind} ({mount_point}), where SQLite may corrupt it: put the ledger on a local disk, "
            "or use Postgres"
        )
