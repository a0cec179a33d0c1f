"""The differences between SQLite and Postgres; everything else is written once, for both.

A statement takes many values as one parameter: an array or a JSON text.  One parameter per value would cost more
than the statement itself, because its text is rendered, sent and parsed again for each number of values.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import IntEnum
from typing import Any

from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Float,
    Integer,
    Select,
    String,
    Table,
    bindparam,
    column,
    func,
    select,
    text,
    true,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

from db.schema.declaring import ColumnOf
from db.schema.models import Base


def spelled(element: type[FunctionElement[Any]], **forms: str) -> None:
    """Say how each database spells an element: a form has ``{}`` for each of its clauses."""
    for dialect, form in forms.items():

        def spell(element: Any, compiler: Any, form: str = form, **options: Any) -> str:
            return form.format(*(compiler.process(clause, **options) for clause in element.clauses))

        compiles(element, dialect)(spell)


# -- times --------------------------------------------------------------------------------


class Now(FunctionElement[float]):
    """Seconds since 1970 as an SQL expression: leases use the clock of the database, and no other."""

    type = Float(53)
    inherit_cache = True


# Not now() of Postgres, which is the time at the start of the transaction.
spelled(
    Now,
    sqlite="((julianday('now') - 2440587.5) * 86400.0)",
    postgresql="extract(epoch from clock_timestamp())",
)


class Iso(FunctionElement[str]):
    """A time in seconds since 1970 as ISO 8601 text in UTC, with milliseconds."""

    type = String()
    inherit_cache = True


spelled(
    Iso,
    sqlite="strftime('%Y-%m-%dT%H:%M:%fZ', {}, 'unixepoch')",
    postgresql="""to_char(to_timestamp({}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')""",
)


class WholeMinutes(FunctionElement[int]):
    type = Integer()
    inherit_cache = True


spelled(WholeMinutes, sqlite="CAST({} / 60 AS INTEGER)", postgresql="CAST(floor({} / 60) AS BIGINT)")


class InOneText(FunctionElement[str]):
    """The numbers of a group, separated by spaces; NULL: there are none."""

    type = String()
    inherit_cache = True


spelled(InOneText, sqlite="group_concat({}, ' ')", postgresql="string_agg({}::text, ' ')")


# -- rights -------------------------------------------------------------------------------


class MayReadSecret(FunctionElement[bool]):
    """Whether the role that asks may read the secrets of draws; SQLite has no roles."""

    type = Boolean()
    inherit_cache = True


spelled(MayReadSecret, sqlite="1", postgresql="has_column_privilege('campaign', 'secret', 'SELECT')")


# -- many values as one parameter -------------------------------------------------------------


class Values(TypeDecorator[Collection[Any]]):
    """Integers of up to 64 bits, or texts, as one parameter."""

    impl = JSON
    cache_ok = True

    def __init__(self, of: type[TypeEngine[Any]]) -> None:
        super().__init__()
        self.of = of

    def load_dialect_impl(self, dialect: Any) -> Any:
        return dialect.type_descriptor(ARRAY(self.of) if dialect.name == "postgresql" else JSON())

    def process_bind_param(self, value: Collection[Any] | None, dialect: Any) -> list[Any]:
        return list(value or ())


class Among(FunctionElement[bool]):
    """Whether a column is one of some integers or texts."""

    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Among:
        """The condition without "= 1", with which SQLite would not use an index."""
        return self


def among(column: Any, parameter: str) -> ColumnElement[bool]:
    of = String if isinstance(column.type, String) else BigInteger
    return Among(column, bindparam(parameter, type_=Values(of)))


spelled(Among, sqlite="({} IN (SELECT value FROM json_each({})))", postgresql="({} = ANY ({}))")


def given(dialect: str, columns: Sequence[ColumnOf[Any]]) -> Select[Any]:
    """A query that returns its parameter "rows", a list of mappings from the names of these columns."""
    rows = bindparam("rows", type_=JSON)
    if dialect == "postgresql":
        fields = (column(attribute.key, attribute.type) for attribute in columns)
        records = func.json_to_recordset(rows).table_valued(*fields)
        return select(records.render_derived(with_types=True)).where(true())
    row = func.json_each(rows).table_valued("value").c.value
    # Without a condition, SQLite would parse a following "ON CONFLICT" as the condition of a join.
    return select(*(func.json_extract(row, f"$.{attribute.key}") for attribute in columns)).where(true())


# -- insertions -------------------------------------------------------------------------------


def insert_new(dialect: str, table: type[Base]) -> Any:
    """An insertion that skips rows whose key exists, even if another transaction has just inserted it."""
    # Only the database in use: to import Postgres's takes a twentieth of the time of a short command.
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert
    else:
        from sqlalchemy.dialects.sqlite import insert  # type: ignore[assignment]
    return insert(table).on_conflict_do_nothing()


class Purpose(IntEnum):
    """What only one transaction at a time may do; the values are numbers of locks on Postgres."""

    MAKE_LEDGER = 0x1A46F04D
    MAKE_VOTER = 0x1A46F04E


def alone(connection: Connection, purpose: Purpose) -> None:
    """Wait for other transactions with this purpose, and exclude them until this one ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(purpose.value)))


def update_statistics(connection: Connection, table: type[Base]) -> None:
    """Let Postgres measure a table that has grown: otherwise it reads the whole table to find a few rows."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"ANALYZE {table.__tablename__}"))


def close_to_writers(connection: Connection, table: type[Base]) -> None:
    """Wait for other transactions that write to a table, and let new ones wait for this one.

    SQLite has only one writing transaction at a time anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"LOCK TABLE {table.__tablename__} IN SHARE ROW EXCLUSIVE MODE"))


def advance_ids(connection: Connection, table: Table) -> None:
    """Let the next id follow ids that were inserted explicitly; SQLite does that by itself."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "
                f"(SELECT coalesce(max(id), 0) + 1 FROM {table.name}), false)"
            )
        )
