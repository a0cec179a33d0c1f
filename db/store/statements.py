"""Statements that each task needs, executed by SQLite's driver itself.

What SQLAlchemy does for one execution takes several times as long as SQLite does.  So it composes and compiles a
statement only once; from then on the driver gets the text and the values.  Errors, and what listens to statements,
are as if SQLAlchemy executed it.
"""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Dialect, Executable
from sqlalchemy.exc import DBAPIError

_prepared: dict[Executable, Prepared] = {}


def rows(connection: Connection, statement: Executable, parameters: Mapping[str, Any]) -> Sequence[Any]:
    """All rows of a statement, as named tuples."""
    if connection.dialect.name == "sqlite":
        return _of(statement, connection).rows(connection, parameters)
    return connection.execute(statement, parameters).all()


def change(connection: Connection, statement: Executable, parameters: Mapping[str, Any]) -> int:
    """Execute a statement that changes rows and returns none; returns their number."""
    if connection.dialect.name == "sqlite":
        return _of(statement, connection).change(connection, parameters)
    return connection.execute(statement, parameters).rowcount


def _of(statement: Executable, connection: Connection) -> Prepared:
    """Compiled when it is executed for the first time."""
    found = _prepared.get(statement)
    if found is None:
        found = _prepared[statement] = Prepared(statement, connection.dialect)
    return found


class Prepared:
    """The text of a statement, and what becomes of its parameters and its rows."""

    def __init__(self, statement: Any, dialect: Dialect) -> None:
        self.compiled = compiled = statement.compile(dialect=dialect)
        given = {name: bind for name, bind in compiled.binds.items() if bind.required}
        # With the lists of constants after IN written out.
        written = compiled.construct_expanded_state(dict.fromkeys(given))
        self._text, constants = written.statement, written.parameters
        self._values: list[Any] = []
        self._given: list[tuple[int, str, Callable[[Any], Any] | None]] = []
        for place, name in enumerate(written.positiontup):
            bind = compiled.binds.get(name)
            convert = None if bind is None else bind.type.dialect_impl(dialect).bind_processor(dialect)
            if name in given:
                self._given.append((place, name, convert))
            constant = constants[name]
            self._values.append(constant if convert is None or constant is None else convert(constant))
        columns = statement.exported_columns
        row: Any = namedtuple("Row", columns.keys(), rename=True)  # type: ignore[misc]  # known only now
        self._make = row._make
        readers = (column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns)
        self._readers = {place: reader for place, reader in enumerate(readers) if reader is not None}

    def rows(self, connection: Connection, parameters: Mapping[str, Any]) -> list[Any]:
        """As named tuples; raises DBAPIError, as SQLAlchemy does."""
        found: Sequence[Any] = self._execute(connection, parameters)[0]
        for place, read in self._readers.items():
            found = [(*row[:place], read(row[place]), *row[place + 1 :]) for row in found]
        return [self._make(row) for row in found]

    def change(self, connection: Connection, parameters: Mapping[str, Any]) -> int:
        """Returns the number of rows that were changed; raises DBAPIError."""
        return self._execute(connection, parameters)[1]

    def _execute(self, connection: Connection, parameters: Mapping[str, Any]) -> tuple[list[Any], int]:
        text, values = self._text, self._values.copy()
        for place, name, convert in self._given:
            value = parameters[name]
            values[place] = value if convert is None else convert(value)
        cursor = connection.connection.driver_connection.cursor()  # type: ignore[union-attr]
        for listener in connection.dispatch.before_cursor_execute:
            text, values = listener(connection, cursor, text, values, self, False)
        try:
            cursor.execute(text, values)
            return cursor.fetchall(), cursor.rowcount
        except sqlite3.Error as error:
            raise DBAPIError.instance(text, values, error, sqlite3.Error, dialect=connection.dialect) from error
