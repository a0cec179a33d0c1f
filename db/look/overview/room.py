"""Whether a ledger has room for more results: asked by warnings, by the server's log and by notifications."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from math import inf

from db.look.overview.records import Warned, WarningKind
from db.store.database import Database

MIN_FREE_BYTES, BYTES_OF_A_TASK = 2**30, 4096
"""A disk with less free space, in total or for each remaining task, is reported."""
LACKS_ROOM = WarningKind.DISK_FULL, WarningKind.DISK_NEARLY_FULL


def lacking(database: Database, tasks_left: int) -> Iterator[Warned]:
    """At most one warning, without the folder, which readers of a server need not know.

    Only the last write shows whether the disk of a database on a server is full.
    """
    if database.is_full:
        yield Warned(
            WarningKind.DISK_FULL,
            "no space is left for the ledger: free some; no committed result is lost, workers keep theirs, and a "
            "server continues by itself",
        )
        return
    free = inf if database.folder is None else shutil.disk_usage(database.folder).free
    if free < max(MIN_FREE_BYTES, BYTES_OF_A_TASK * tasks_left):
        yield Warned(
            WarningKind.DISK_NEARLY_FULL,
            f"{free / 2**20:,.0f} MiB are left on the disk of the ledger: free some space; a full disk stops all "
            "work, but loses no committed result",
        )
