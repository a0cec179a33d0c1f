"""A file of SQLite that is cut short, or has another file's commits beside it, is found before SQLite opens it.

FILE-wal does not name its file, and SQLite writes what it holds into any file beside it: also into a backup that
was put in the place of the file after a crash.  So every commit draws a number and writes it to page 1, with the
number of the commit before it (:mod:`db.store.connections`).  FILE-wal belongs to FILE if FILE ends with one of its
commits, as after a checkpoint, or with the one before the first.  The three files may be copied together.

A ledger has no rollback journal once it is created, so a FILE-journal with content belongs to another database.

A process that closes a file loses all locks that SQLite holds for it on that file; without them another process
deletes FILE-wal, with the commits that follow.  So a file that this process has open, as a ledger or otherwise, is
not looked at.
"""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from db.errors import LedgerUnusable
from db.store.places import holds_commits, journal_beside, waiting_beside
from db.store.translation import damaged

START, FRAME, HEADER = 32, 24, 100
"""Bytes at the start of FILE-wal, before each page in it, and at the start of page 1."""
SQLITE, MAGIC = b"SQLite format 3\0", 0x377F0682
"""The start of FILE, and that of FILE-wal; plus 1 where its checksums are of big-endian numbers."""
TRIALS = 5
DESCRIPTORS = Path("/dev/fd")
_OPEN, _TURN = Counter[str](), Lock()
"""How often this process has each file open as a ledger, and whose turn it is to look at one."""


def hold_undamaged(file: Path) -> Callable[[], None]:
    """Note that this process opens a ledger's file; returns what to call when it has closed it.

    Raises LedgerUnusable where the end of the file is missing, or where what is beside it belongs to another file.
    """
    name = os.path.realpath(file)
    with _TURN:
        if not _OPEN[name] and file.is_file() and not _has_open(file):
            _refuse_damaged(file)
        if not any(_OPEN.values()):
            _OPEN.clear()
        _OPEN[name] = _OPEN.pop(name, 0) + 1

    def release() -> None:
        with _TURN:
            _OPEN[name] -= 1

    return release


def opened() -> list[Path]:
    """The files that this process has open as ledgers, or if there are none, those that it had open last.

    The one that it opened last comes first.
    """
    with _TURN:
        return [Path(name) for name in reversed(_OPEN)]


def _has_open(file: Path) -> bool:
    """Whether a file descriptor of this process is that of a file."""
    for descriptor in DESCRIPTORS.glob("*"):
        with suppress(OSError):
            if descriptor.samefile(file):
                return True
    return False


def _refuse_damaged(file: Path) -> None:
    waiting = waiting_beside(file)
    with file.open("rb") as stream:
        page = stream.read(HEADER)
    header = _FirstPage.of(page)
    journal = journal_beside(file)
    if header.is_in_use and _has_content(journal):
        raise LedgerUnusable(
            f"{journal} belongs to another database than {file}, which keeps no such file; nothing was written: "
            "move it away, then repeat"
        )
    if holds_commits(waiting):
        # Its header may be ahead of the file.
        if _is_foreign(file, waiting):
            raise LedgerUnusable(
                f"{waiting} does not continue {file}: it is from another file or program, or from before a backup "
                f"was put in place; nothing was written: move {waiting.name} away to use the file as it is, or put "
                "back the file that it belongs to, then repeat"
            )
        return
    is_whole = not page.startswith(SQLITE) or header.page_size * header.pages <= file.stat().st_size
    if not is_whole:
        raise damaged(str(file), "its end is missing")


def _has_content(journal: Path) -> bool:
    """Whether SQLite would write what a rollback journal holds into the file beside it."""
    with suppress(OSError), journal.open("rb") as stream:
        return stream.read(1) not in (b"", b"\0")
    return False


@dataclass(frozen=True)
class _FirstPage:
    """The start of page 1."""

    page_size: int
    has_log: bool
    pages: int
    commit: int
    before: int

    @classmethod
    def of(cls, page: bytes) -> _FirstPage:
        size = int.from_bytes(page[16:18], "big")
        numbers = (int.from_bytes(page[at : at + 4], "big") for at in (28, 60, 68))
        return cls(65_536 if size == 1 else size, page[18:19] == b"\2", *numbers)

    @property
    def is_in_use(self) -> bool:
        """Whether it is that of a ledger whose creation is complete."""
        return self.has_log and self.commit != 0


def _is_foreign(file: Path, waiting: Path) -> bool:
    """Whether FILE-wal holds commits of another file; both are only read."""
    with suppress(FileNotFoundError):  # the last process that used them has ended now
        for _ in range(TRIALS):
            before = _beginnings(file, waiting)
            if _continues(before[0], waiting):
                return False
            if before == _beginnings(file, waiting):
                return True
    return False  # another process writes now, so that they belong together


def _beginnings(file: Path, waiting: Path) -> tuple[bytes, bytes]:
    with file.open("rb") as of_file, waiting.open("rb") as of_log:
        return of_file.read(HEADER), of_log.read(START)


def _continues(page: bytes, waiting: Path) -> bool:
    """Whether the commits of FILE-wal continue a file with this page 1, or there are none."""
    # Other programs may leave out page 1, and so do not change the number.
    named = [first for first in _commits(waiting) if first is not None]
    if named and _FirstPage.of(page).commit in {named[0].before, *(first.commit for first in named)}:
        return True
    # Where the power failed, the first commit may be torn: then SQLite reads none.
    return next((False for _ in _commits(waiting, checked=True)), True)


def _commits(waiting: Path, checked: bool = False) -> Iterator[_FirstPage | None]:
    """Page 1 as each commit leaves it, if it changes it.

    ``checked``: only as far as SQLite would read, by the checksums, which take long.
    """
    with waiting.open("rb") as stream:
        start = stream.read(START)
        if len(start) < START:
            return
        magic, _, size = struct.unpack(">3I", start[:12])
        salts, sums = start[16:24], _sums((0, 0), start[:24], magic)
        if sums != struct.unpack(">2I", start[24:]):
            return
        first: _FirstPage | None = None
        while len(frame := stream.read(FRAME)) == FRAME and frame[8:16] == salts:
            number, pages = struct.unpack(">2I", frame[:8])
            page = b""
            if checked or number == 1:
                page = stream.read(size)
                if len(page) < size:
                    return
            else:
                stream.seek(size, os.SEEK_CUR)
            if checked:
                sums = _sums(_sums(sums, frame[:8], magic), page, magic)
                if sums != struct.unpack(">2I", frame[16:]):
                    return
            first = _FirstPage.of(page) if number == 1 else first
            if pages:
                yield first
                first = None


def _sums(sums: tuple[int, int], content: bytes, magic: int) -> tuple[int, int]:
    one, two = sums
    for left, right in struct.iter_unpack("<2I" if magic == MAGIC else ">2I", content):
        one = (one + left + two) & 0xFFFFFFFF
        two = (two + right + one) & 0xFFFFFFFF
    return one, two
