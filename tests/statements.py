"""The SQL that a ledger executes, by the operation that causes it, as text to read."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, event

P = ParamSpec("P")
T = TypeVar("T")

WIDTH = 112
CLAUSES = (
    "FROM|WHERE|SET|VALUES|RETURNING|ON CONFLICT|ORDER BY|GROUP BY|LIMIT|FOR UPDATE|FOR NO KEY UPDATE|JOIN|"
    "LEFT OUTER JOIN|AND"
)
NEW_LINE_BEFORE = re.compile(rf"(?<!LEFT OUTER)\s+(?=(?:{CLAUSES})\b)")
NOT_OURS = ("pg_catalog", "sqlite_master", "PRAGMA ", "BEGIN", "standard_conforming_strings", "alembic_version")
"""What SQLAlchemy asks a database about itself, the begin of SQLite's transactions, and Alembic's own table."""


class StatementLog:
    """Statements as they are executed, each with the names of the operations that execute it."""

    def __init__(self) -> None:
        self.operations: dict[str, list[str]] = {}
        self._operation: str | None = None

    def call(self, operation: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Call an operation; what it executes is noted under its name."""
        self._operation = name_of(operation)
        try:
            return operation(*arguments, **options)
        finally:
            self._operation = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Note what all engines of this process execute."""
        event.listen(Engine, "before_cursor_execute", self._note)
        try:
            yield
        finally:
            event.remove(Engine, "before_cursor_execute", self._note)

    def _note(
        self, connection: Connection, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
    ) -> None:
        if self._operation is None or any(word in statement for word in NOT_OURS):
            return
        names = self.operations.setdefault(formatted(statement), [])
        if self._operation not in names:
            names.append(self._operation)

    def text(self) -> str:
        """All statements in the order of their first execution, below the names of their operations."""
        return "\n".join(f"{_comment(names)}\n{statement};\n" for statement, names in self.operations.items())


@contextmanager
def statements_of() -> Iterator[list[str]]:
    """What all engines of this process execute in the block."""
    seen: list[str] = []

    def note(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        if not any(word in statement for word in NOT_OURS):
            seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def name_of(operation: Callable[..., object]) -> str:
    """The name of a class, a method or a function, as a reader would write it."""
    name = operation.__qualname__
    return name if isinstance(operation, type) or "." in name else f"{operation.__module__}.{name}"


def formatted(statement: str) -> str:
    """A statement over several lines, none too long."""
    lines = NEW_LINE_BEFORE.sub("\n", " ".join(statement.split())).split("\n")
    wrapped = [
        textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
        for line in lines
    ]
    return "\n".join(line for part in wrapped for line in part)


def _comment(names: list[str]) -> str:
    return "\n".join(textwrap.wrap(", ".join(names), WIDTH, initial_indent="-- ", subsequent_indent="-- "))
