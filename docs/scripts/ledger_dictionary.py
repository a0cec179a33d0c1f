"""The data dictionary of a ledger, as a page of the site and for datasette, from the tables and views themselves.

``python -m docs.scripts.ledger_dictionary`` prints the metadata for datasette.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column

from db import states
from db.schema.models import Base
from db.schema.views import VIEWS, granted

COMMON = {
    "id": "Number of the row.",
    "name": "Its name, unique in the ledger.",
    "campaign_id": "The campaign, a row of `campaign`.",
    "task_index": "Index of the task in its campaign; null where it is about no single task.",
    "attempt_id": "The attempt, a row of `attempt`; null where it is about none.",
    "worker_id": "The worker, a row of `worker`.",
}
"""Columns that say the same in every table."""
HEAD = """# The ledger, column by column

Generated from the tables (`db/schema/models.py`) and views (`db/schema/view_queries.py`). A ledger is a SQLite file
or a Postgres database, and any client can read it ([examples](reports.md#other-clients)).

- The **views** have names instead of numbers, and times in ISO 8601 (UTC). Start with them.
- In the **tables** times are seconds since 1970 by the clock of the database, unless a column's text differs.
- Counts and partial sums are decimal text that exceeds 64 bits. Never sum them in SQL; use `langford result`.
- The UUIDs of workers and the secrets of campaigns keep others from impersonating workers. Show a ledger only
  to people who may work on it; give an export (`langford export`) to everyone else.

## A role that only reads

On Postgres, `status`, `query`, `tasks`, `result`, `export`, `verify`, `report` and `token --list` need only these
rights. The owner of the ledger grants them to a role (here `reader`) once, and again after each upgrade of the
schema:

```text
{granted}
```

They omit the secrets of campaigns, which determine which results are drawn for a second evaluation, and the hashes
of tokens and nonces. `langford query` on SQLite reads these columns as null; another client shows them to anyone
who can read the file.

## A role that works

A role that does not own the ledger runs, creates and serves campaigns with `SELECT`, `INSERT`, `UPDATE` and
`DELETE` on all tables, `SELECT` on the views, and `USAGE` on the sequences. Only the owner deletes a campaign and
upgrades the ledger.

"""


@dataclass(frozen=True)
class Section:
    """A table or a view.

    Attributes:
        name: of it.
        summary: what it holds.
        columns: (name, type, what stands in it) of each; the type is "" in a view.
    """

    name: str
    summary: str
    columns: list[tuple[str, str, str]]


def tables() -> Iterator[Section]:
    """The tables, in the order of the module that defines them."""
    for model in Base.__subclasses__():
        columns = [
            (column.key, _type(column), _sentence(column.doc) if column.doc else _common(column))
            for column in model.__table__.columns
        ]
        yield Section(model.__tablename__, _sentence(inspect.getdoc(model) or ""), columns)


def views() -> Iterator[Section]:
    """The views."""
    for view in VIEWS:
        yield Section(view.name, view.summary, [(name, "", words) for name, words in view.columns.items()])


def _common(column: Column[Any]) -> str:
    words = COMMON[column.key]
    return words if column.nullable else words.partition(";")[0].rstrip(".") + "."


def _sentence(words: str) -> str:
    """Text of a docstring on one line, without the marks of Sphinx."""
    text = " ".join(words.split())
    text = re.sub(r"(?i)\ba value of :class:`db.states.(\w+)`", _values, text)
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text).replace("``", "`")
    text = re.sub(r"\bNone\b", "null", text)
    text = text[:1].upper() + text[1:] if text[:1] != "`" else text
    return text if text.endswith(".") else text + "."


def _values(name: re.Match[str]) -> str:
    """The values of one of the enumerations of :mod:`db.states`."""
    return f"one of {', '.join(getattr(states, name[1]))}"


def _type(column: Column[Any]) -> str:
    """integer, real, text or boolean; with "?" where it may be null."""
    kind = {int: "integer", float: "real", str: "text", bool: "boolean"}[column.type.python_type]
    return kind + ("?" if column.nullable else "")


def page() -> str:
    """The page, as Markdown."""
    parts = [HEAD.replace("{granted}", "\n".join(map(_broken, granted("reader")))), "## Views\n\n"]
    for section in views():
        head = "| column | meaning |\n|---|---|\n"
        rows = "".join(f"| `{name}` | {_cell(words)} |\n" for name, _, words in section.columns)
        parts.append(f"### {section.name}\n\n{section.summary}\n\n{head}{rows}\n")
    parts.append('## Tables\n\n"?" marks a column that may be null.\n\n')
    for section in tables():
        head = "| column | type | meaning |\n|---|---|---|\n"
        rows = "".join(f"| `{name}` | {kind} | {_cell(words)} |\n" for name, kind, words in section.columns)
        parts.append(f"### {section.name}\n\n{section.summary}\n\n{head}{rows}\n")
    return "".join(parts).rstrip() + "\n"


def _broken(statement: str) -> str:
    """A statement in lines that a page can show."""
    return textwrap.fill(statement, 110, subsequent_indent="    ")


def _cell(words: str) -> str:
    return words.replace("|", r"\|")


def metadata() -> str:
    """The same texts for datasette, for a database called langford."""
    described = {
        section.name: {
            "description": section.summary,
            "columns": {name: words for name, _, words in section.columns},
        }
        for section in (*views(), *tables())
    }
    document = {
        "title": "A ledger of langford",
        "description": "Campaigns that count Langford pairings, with every attempt and every partial sum.",
        "databases": {"langford": {"tables": described}},
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(metadata(), end="")
