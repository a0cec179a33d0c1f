"""A ledger's file of SQLite that is cut short: found before it is opened, so that nothing is written into it."""

from __future__ import annotations

from pathlib import Path

from db.errors import LedgerUnusable
from db.store.places import holds_commits, waiting_beside

MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100
LARGEST_PAGE = 65_536


def refuse_damaged(file: Path) -> None:
    """Raises LedgerUnusable where the end of a ledger's file is missing."""
    # While commits wait beside it, the header may be ahead of the file.
    if file.is_file() and not holds_commits(waiting_beside(file)) and _expected_size(file) > file.stat().st_size:
        raise LedgerUnusable(
            f"the ledger {file} is damaged (its end is missing); nothing was written into it: restore a backup, or "
            "read what is left with `sqlite3 FILE .recover`"
        )


def _expected_size(file: Path) -> int:
    """By its own header; 0: it is none, or does not say."""
    with file.open("rb") as stream:
        header = stream.read(HEADER_BYTES)
    if not header.startswith(MAGIC) or len(header) < HEADER_BYTES:
        return 0
    page = int.from_bytes(header[16:18], "big")
    return int.from_bytes(header[28:32], "big") * (LARGEST_PAGE if page == 1 else page)
