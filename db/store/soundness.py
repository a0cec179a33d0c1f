"""What is wrong with a ledger in a file that SQLite opens: a value that cannot be, or text that is none.

A flipped bit may turn a number into text, or a name into bytes, and SQLite returns both.  What reads them then
fails with an error of its own; whoever reports such an error asks here first.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Boolean, Column, Float, Integer

from db.errors import LedgerUnusable
from db.schema.models import Base
from db.store.damage import opened
from db.store.revision import SCHEMA
from db.store.translation import DAMAGED, LACKING, damaged


def damage() -> LedgerUnusable | None:
    """The first damage of the ledgers in files that this process has opened; None: there is none."""
    for file in opened():
        reason = _wrong(file) if file.is_file() else None
        if reason is not None:
            return damaged(str(file), reason)
    return None


def _wrong(file: Path) -> str | None:
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as database:
            return _first_damage(database)
    except sqlite3.OperationalError as error:
        # Not that it is in use, or may not be read any more.
        reason = str(error)
        return reason if DAMAGED.search(reason) or LACKING.search(reason) else None
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return str(error)


def _first_damage(database: sqlite3.Connection) -> str | None:
    [(found,)] = database.execute("PRAGMA integrity_check(1)").fetchall()
    if found != "ok":
        return str(found)
    if database.execute("SELECT version_num FROM alembic_version").fetchone() != (SCHEMA,):
        return None  # of another version, whose columns are not known here
    for table in Base.metadata.sorted_tables:
        for column in table.columns:
            for value in database.execute(_impossible(column)):
                return f"{column} is {value[0]!r:.60}"
        for _ in database.execute(f"SELECT * FROM {table.name}"):
            pass  # every text is read
    for row in database.execute("PRAGMA foreign_key_check"):
        return f"row {row[1]} of {row[0]} belongs to one of {row[2]} that is missing"
    return None


def _impossible(column: Column[object]) -> str:
    """A query of a value that a column cannot have."""
    kinds = {"null"} if column.nullable else set()
    name, infinite = column.name, ""
    if isinstance(column.type, Float):
        kinds |= {"integer", "real"}
        # Of numbers alone: SQLite takes a text such as "7e999f3a" for infinite, too.
        infinite = f" OR abs({name}) = 9e999"
    elif isinstance(column.type, Integer | Boolean):
        kinds |= {"integer"}
    else:
        kinds |= {"text"}
    named = ", ".join(map(repr, sorted(kinds)))
    return f"SELECT {name} FROM {column.table.name} WHERE typeof({name}) NOT IN ({named}){infinite} LIMIT 1"
