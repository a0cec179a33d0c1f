"""A file of SQLite that is cut short, or has another file's commits beside it, is found before SQLite opens it.

FILE-wal does not name its file, and SQLite writes what it holds into any file beside it.  So every commit writes
page 1 (:mod:`db.store.connections`), where three things must agree: the size of a page; the number of the ledger,
drawn at its first commit (``user_version``); and the counter of changes, which continues that of the file.
Commits of other programs, and of versions before 1.1, may leave page 1 out, or have no number: then the number of
pages must agree, and a copy of both must be sound.

A process that closes a file loses all locks that SQLite holds for it on that file; without them another process
deletes FILE-wal, with the commits that follow.  So a file that this process has open, as a ledger or otherwise, is
not looked at.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from db.errors import LedgerUnusable
from db.store.places import holds_commits, waiting_beside

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

    Raises LedgerUnusable where the end of the file is missing, or where another file's commits wait beside it.
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
    if holds_commits(waiting):
        # Its header may be ahead of the file.
        if _is_foreign(file, waiting):
            raise LedgerUnusable(
                f"{waiting} holds commits of another file than {file}; nothing was written: move it to where that "
                "file is, or away, and repeat"
            )
        return
    with file.open("rb") as stream:
        page = stream.read(HEADER)
    header = _FirstPage.of(page)
    is_whole = not page.startswith(SQLITE) or header.page_size * header.pages <= file.stat().st_size
    if not is_whole:
        raise LedgerUnusable(
            f"the ledger {file} is damaged (its end is missing); nothing was written into it: restore a backup, or "
            "read what is left with `sqlite3 FILE .recover`"
        )


@dataclass(frozen=True)
class _FirstPage:
    """The start of page 1."""

    page_size: int
    counter: int
    pages: int
    number: int

    @classmethod
    def of(cls, page: bytes) -> _FirstPage:
        size = int.from_bytes(page[16:18], "big")
        numbers = (int.from_bytes(page[at : at + 4], "big") for at in (24, 28, 60))
        return cls(65_536 if size == 1 else size, *numbers)


def _is_foreign(file: Path, waiting: Path) -> bool:
    """Whether FILE-wal holds commits of another file; both are only read."""
    with suppress(FileNotFoundError):  # the last process that used them has ended now
        for _ in range(TRIALS):
            before = _beginnings(file, waiting)
            # The checksums of all frames take long, and decide only where a frame may be torn.
            verdict = None
            for checked in (False, True):
                verdict = _disagrees(before[0], waiting, checked)
                if not verdict:
                    break
            if verdict is None and not _breaks(file, waiting):
                verdict = False
            if verdict is False:
                return False
            if before == _beginnings(file, waiting):
                return True
    return False  # another process writes now, so that they belong together


def _breaks(file: Path, waiting: Path) -> bool:
    """Whether the commits of FILE-wal make no sound database of FILE, which is one: of copies of them.

    Raises LedgerUnusable where there is no space for these, and FileNotFoundError.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="langford-") as folder:
            copy, alone = Path(folder, "copy"), Path(folder, "alone")
            # First the file: what a checkpoint writes into it meanwhile is in FILE-wal, too.
            for source, name in ((file, copy), (waiting, waiting_beside(copy)), (file, alone)):
                shutil.copyfile(source, name)
            return not _is_sound(copy) and _is_sound(alone)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise LedgerUnusable(
            f"{waiting} may hold commits of another file than {file}, and there is no space for copies that would "
            f"show it ({error.strerror}): free some, or name another folder with TMPDIR"
        ) from error


def _is_sound(file: Path) -> bool:
    with closing(sqlite3.connect(file)) as database, suppress(sqlite3.DatabaseError):
        return database.execute("PRAGMA integrity_check(1)").fetchall() == [("ok",)]
    return False


def _beginnings(file: Path, waiting: Path) -> tuple[bytes, bytes]:
    with file.open("rb") as of_file, waiting.open("rb") as of_log:
        return of_file.read(HEADER), of_log.read(START)


def _disagrees(page: bytes, waiting: Path, checked: bool) -> bool | None:
    """Whether page 1 of FILE contradicts the commits of FILE-wal; None: they do not have what tells."""
    commits = list(_commits(waiting, checked))
    if len(page) < HEADER or not commits:
        return False
    header, changed = _FirstPage.of(page), [first for first, _ in commits if first is not None]
    if not changed:
        return True if any(pages != header.pages for _, pages in commits) else None
    counters = [first.counter for first in changed]
    if (
        any(first.page_size != header.page_size for first in changed)
        or any(first.number != header.number for first in changed if header.number)
        or not min(counters) - 1 <= header.counter <= max(counters)
    ):
        return True
    return False if header.number else None


def _commits(waiting: Path, checked: bool) -> Iterator[tuple[_FirstPage | None, int]]:
    """Page 1 as each commit leaves it, if it changes it, and the number of pages.

    ``checked``: only as far as SQLite would read, by the checksums.
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
                yield first, pages
                first = None


def _sums(sums: tuple[int, int], content: bytes, magic: int) -> tuple[int, int]:
    one, two = sums
    for left, right in struct.iter_unpack("<2I" if magic == MAGIC else ">2I", content):
        one = (one + left + two) & 0xFFFFFFFF
        two = (two + right + one) & 0xFFFFFFFF
    return one, two
