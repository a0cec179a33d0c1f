"""Errors of a database as errors of the ledger, whose messages say what to do next."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError, OperationalError, ProgrammingError

from db.errors import (
    ConnectionLost,
    LedgerBusy,
    LedgerError,
    LedgerFull,
    LedgerReadOnly,
    LedgerUnusable,
    OnlyReads,
    TransactionUndone,
)
from db.store.connections import BUSY_SECONDS, READ_ONLY
from langford.machine.folders import takes_no_file

DAMAGED = re.compile("malformed(?! JSON)|Could not decode to UTF-8")
LACKING = re.compile("no such (table|column)|has no column named")
"""What SQLite says of a ledger that is damaged, and of one that lacks what the statements of this program name."""
CONNECTION_LOST = re.compile("08...|57P0[1235]|53300|25P0[34]")
"""SQLSTATEs: no connection, a server that stops or starts, too many connections, an idle one closed."""
NO_RIGHT = "42501"
UNDONE, TOO_SLOW = {"40P01", "40001"}, {"57014", "55P03"}
"""SQLSTATEs: a deadlock or a conflict of snapshots, a statement or a lock that reached its time limit."""
LACKS_CHARACTER, NO_TEXT = "22P05", "22021"
NO_SUCH = {"42P01", "42703"}
"""SQLSTATEs of a table or a column that another program has removed."""
THEN = "then repeat the command; a server continues by itself"


@contextmanager
def translated_errors(where: str) -> Iterator[None]:
    """``where``: the database's name in messages."""
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig).splitlines()[0] if error.orig else str(error)
        translated = _translate(where, reason, error)
        if translated is None:
            raise
        raise translated from error


def damaged(where: str, reason: str) -> LedgerUnusable:
    return LedgerUnusable(
        f"the ledger {where} is damaged ({reason}): stop what uses it, and restore a backup, or save the results "
        "that can be read with `langford export NAME --damaged`"
    )


def _translate(where: str, reason: str, error: DBAPIError) -> LedgerError | None:
    if "disk is full" in reason or "No space left" in reason:
        return LedgerFull(
            f"no space left for the ledger {where} ({reason}): what was committed is safe; free some space, {THEN}"
        )
    if "disk I/O error" in reason:  # of SQLite, for every other error of the system
        return LedgerUnusable(
            f"the system refuses to read or write the ledger {where} ({reason}): what was committed is safe; check "
            f"the free space, the quota, the limit on the size of files (`ulimit -f`) and the disk, {THEN}"
        )
    if DAMAGED.search(reason):
        return damaged(where, reason)
    if LACKING.search(reason) and isinstance(error.orig, sqlite3.Error):
        return damaged(where, f"{reason}, unless another version of langford has upgraded it meanwhile")
    if "unable to open database file" in reason:
        if lack := takes_no_file(Path(where).parent):
            return LedgerFull(f"SQLite cannot use the ledger {where}, {lack}; delete some files, {THEN}")
        return LedgerUnusable(
            f"SQLite cannot open the ledger {where}, or not make its files beside it: check the permissions of the "
            "folder"
        )
    if "not a database" in reason:
        return LedgerUnusable(f"{where} is not a ledger ({reason}); choose another file with --ledger")
    state = getattr(error.orig, "sqlstate", None) or ""
    if state == NO_RIGHT:
        return LedgerReadOnly(
            f"the role that opens the ledger {where} may not do this ({reason}): grant it the right, or use "
            "another role"
        )
    if state == READ_ONLY:
        return OnlyReads(
            f"the ledger {where} is read-only here: wait until its server is the primary again, or use a role or a "
            "server with write access"
        )
    if "readonly database" in reason:
        return LedgerReadOnly(f"the ledger {where} is read-only here ({reason}): use a place with write access")
    if state == LACKS_CHARACTER:
        return LedgerUnusable(
            f"the encoding of {where} lacks a character ({reason}): write it otherwise, or let `langford ledger "
            "copy` copy the ledger into a database of encoding UTF8"
        )
    if state == NO_TEXT:
        return LedgerUnusable(
            f"{where} holds text that is not UTF-8 ({reason}): correct it with the program that wrote it there"
        )
    if state in UNDONE:
        return TransactionUndone(
            f"a transaction on {where} conflicted with another ({reason}) and was undone: nothing was lost, "
            "try again"
        )
    if state in TOO_SLOW:
        return LedgerBusy(f"{where} did not answer in time ({reason}): try again when it is less busy")
    lost = error.connection_invalidated or CONNECTION_LOST.fullmatch(state)
    if lost or (isinstance(error, OperationalError) and not (state or isinstance(error.orig, sqlite3.Error))):
        return ConnectionLost(
            f"cannot use the ledger {where} ({reason}): check its address, your permissions and the server"
        )
    if "locked" in reason:
        return LedgerBusy(f"another process has held {where} for {BUSY_SECONDS} s; try again when it is done")
    # What the driver refuses before a statement or a connection exists is an option of the address.
    is_option = isinstance(error, ProgrammingError) and error.statement is None and not state
    if isinstance(error, OperationalError) or is_option or state in NO_SUCH:
        return LedgerUnusable(
            f"cannot use the ledger {where} ({reason}): check its address, your permissions and the server"
        )
    return None
