"""The place of a ledger's SQLite file, and whether the file is still there.

SQLite continues to use a file that was moved or deleted, and keeps its last commits in a second file, FILE-wal,
which stays behind.  Later commits would be lost, and a new ledger of the old name would destroy that second file.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from db.errors import LedgerUnusable


class Place:
    """The place of an open file.  No other file can get its inode number meanwhile."""

    def __init__(self, file: Path) -> None:
        """Remember which file is there; raises LedgerUnusable when there is none."""
        self._file = file
        self._absolute = file.absolute()  # a program may change its working folder
        self._number = self._number_now()
        self.require()

    def require(self) -> None:
        """Raises LedgerUnusable when another file is there, or none."""
        if self._number is None or self._number_now() != self._number:
            raise LedgerUnusable(
                f"{self._file} was moved, deleted or replaced while it was in use: move that same file back "
                f"({waiting_beside(self._file).name} may hold its last commits), then repeat; or start again with "
                "the ledger that is to be used"
            )

    def _number_now(self) -> tuple[int, int] | None:
        with suppress(OSError):
            status = os.stat(self._absolute)
            return status.st_dev, status.st_ino
        return None


def waiting_beside(file: Path) -> Path:
    """The file that holds the last commits of a ledger."""
    return Path(f"{os.path.realpath(file)}-wal")  # SQLite follows links first


def holds_commits(waiting: Path) -> bool:
    """Whether such a file holds commits."""
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
