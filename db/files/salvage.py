"""What can still be read of a damaged ledger in a file: the results of a campaign, each row by itself.

SQLite stops at the first page that is damaged.  A row that is asked for by its number needs few pages, so that a
damaged one hides only its own rows.  Each result is checked by itself; what was changed in it is found by that.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from db.errors import LedgerUnusable
from db.files.exports import Export
from db.files.promise import Promise
from db.files.reading import agreed_plan
from db.messages import problem
from langford.errors import LangfordError
from langford.methods import PlanKey
from langford.result import Evaluation, PartialResult

ROW = 100
"""Bytes of a row, at least: so many are asked for where the last one cannot be read."""


def salvaged(file: Path, name: str) -> Export:
    """The results of a campaign that can be read and pass their checks, but those in doubt.

    All of them count as drawn if any were to be, since who confirmed them cannot be known.  Nothing is written.
    Raises LedgerUnusable where not even the campaign can be read.
    """
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
        with suppress(sqlite3.Error):
            database.execute("PRAGMA writable_schema = ON")  # reads a file that was cut, too
        fields = "name, id, problem, method, depth, seed, tasks, recheck_share"
        found = {row[0]: row[1:] for row in _rows(database, "campaign", fields)}
        if name not in found:
            readable = ", ".join(map(str, found)) or "none"
            raise LedgerUnusable(
                f"no campaign {name} can be read in {file} (campaigns that can: {readable}): restore a backup"
            )
        number, named, method, depth, seed, tasks, share = found[name]
        key = PlanKey(problem(named), method, depth, seed)
        plan = agreed_plan(name, key, tasks)
        results: dict[int, Evaluation] = {}
        fields = "campaign_id, doubt, task_index, value, residue, evaluated, seconds, provenance"
        for campaign, doubt, index, value, residue, evaluated, seconds, provenance in _rows(
            database, "result", fields
        ):
            if campaign != number or doubt is not None:
                continue
            with suppress(LangfordError, ValueError, TypeError, LookupError):
                result = PartialResult(index, int(value), int(residue), int(evaluated))
                plan.expectation(index).check(result)
                if isinstance(provenance, str) and 0 <= seconds < math.inf:
                    results[index] = Evaluation(result, seconds, provenance)
    promise = Promise(share, frozenset(results)) if share else None
    return Export(name, key, tasks, tuple(results.values()), promise=promise)


def _rows(database: sqlite3.Connection, table: str, fields: str) -> Iterator[tuple[Any, ...]]:
    """The rows that can be read."""
    with suppress(sqlite3.Error):
        [(_, _, file)] = database.execute("PRAGMA database_list")
        last = Path(file).stat().st_size // ROW
    with suppress(sqlite3.Error):
        last = database.execute(f"SELECT coalesce(max(rowid), 0) FROM {table} NOT INDEXED").fetchone()[0]
    for number in range(1, last + 1):
        with suppress(sqlite3.Error, UnicodeDecodeError):
            yield from database.execute(f"SELECT {fields} FROM {table} NOT INDEXED WHERE rowid = ?", (number,))
