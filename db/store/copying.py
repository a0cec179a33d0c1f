"""Copying a whole ledger to another database, with a proof that the copy is complete."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, Integer, Table, delete, func, insert, select, update

from db.errors import LedgerError
from db.schema.dialects import Now, advance_ids
from db.schema.models import Attempt, Base, Campaign, Ledger, Task
from db.states import Outcome, TaskState
from db.store.addresses import without_password
from db.store.database import Database
from db.store.translation import translated_errors
from langford.words import several

BATCH_ROWS = 5_000


@dataclass(frozen=True)
class CopiedTable:
    """A table, equal in both databases; ``checksum``: SHA-256 of all rows by primary key, in hexadecimal digits."""

    name: str
    rows: int
    checksum: str


def copy(source: str, target: str) -> list[CopiedTable]:
    """Copy the ledger ``source`` into ``target``, a new or empty one, in one transaction.

    Both are file names or database URLs; ids and times are kept.  Workers may use the source meanwhile: one state
    of it is copied, and their leases are released in the copy, once it is compared.  Returns the tables.

    Raises LedgerError when one of them cannot be opened, when the target has campaigns, or when a copied table
    differs from its original.  After an error or a kill the target is as it was: no new one exists, and an empty
    one is empty.
    """
    named = without_password(target)
    with Database.filling(target) as writing:
        if writing.scalar(select(func.count()).select_from(Campaign)):
            raise LedgerError(f"{named} has campaigns: copy to a new ledger, or use export and import")
        # The copy is the same ledger: results that workers still hold for it are accepted there.
        writing.execute(delete(Ledger))
        # Within the transaction on the target: if the source fails at its very end, nothing is kept either.
        with Database(source) as original, original.reading(snapshot=True) as reading:
            tables = [_copy_table(reading, writing, named, table) for table in Base.metadata.sorted_tables]
        _release_all(writing)
        return tables


def _release_all(copied: Connection) -> None:
    """End the leases of a copy: no worker of the original renews them there; a late result is accepted as any."""
    note = func.coalesce(Attempt.note, "its ledger was copied")
    running = update(Attempt).where(Attempt.ended.is_(None))
    copied.execute(running.values(ended=Now(), outcome=Outcome.RELEASED.value, note=note))
    leased = update(Task).where(Task.state == TaskState.LEASED.value)
    copied.execute(leased.values(state=TaskState.READY.value))


def _copy_table(reading: Connection, writing: Connection, target: str, table: Table) -> CopiedTable:
    """``target``: its name in messages; errors of the other database are the caller's."""
    for batch in _batches(reading, table):
        with translated_errors(target):
            writing.execute(insert(table), batch)
    sent = _summary(reading, table)
    with translated_errors(target):
        if "id" in table.columns and isinstance(table.columns["id"].type, Integer):
            advance_ids(writing, table)
        arrived = _summary(writing, table)
    if sent != arrived:
        raise LedgerError(
            f"table {table.name}: {several(sent.rows, 'row was', 'rows were')} sent and "
            f"{arrived.rows} arrived, and the checksums differ: "
            "nothing was kept; check both databases and copy again"
        )
    return arrived


def _batches(connection: Connection, table: Table) -> Iterator[list[dict[str, object]]]:
    query = select(table).order_by(*table.primary_key.columns).execution_options(yield_per=BATCH_ROWS)
    rows = connection.execute(query)
    for batch in rows.mappings().partitions():
        yield [dict(row) for row in batch]


def _summary(connection: Connection, table: Table) -> CopiedTable:
    digest, row_count = hashlib.sha256(), 0
    for batch in _batches(connection, table):
        row_count += len(batch)
        for row in batch:
            digest.update(repr(tuple(row.values())).encode())
    return CopiedTable(table.name, row_count, digest.hexdigest())
