"""Many values as one parameter of a statement.

A parameter for each of some hundred values costs more than what the statement does: the text is
rendered, sent and parsed again for every length.  Here all of them travel as one array or JSON text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Select,
    bindparam,
    column,
    func,
    select,
    text,
    true,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

from db.models import Base


class Integers(TypeDecorator[Collection[int]]):
    """Integers of up to 64 bits as one parameter."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> Any:
        return dialect.type_descriptor(ARRAY(BigInteger) if dialect.name == "postgresql" else JSON())

    def process_bind_param(self, value: Collection[int] | None, dialect: Any) -> list[int]:
        return list(value or ())


class Among(FunctionElement[bool]):
    """Whether a column is one of some integers."""

    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Among:
        """A condition as it stands: SQLite would not use an index for "(…) = 1"."""
        return self


def among(column: Any, name: str) -> ColumnElement[bool]:
    """Whether a column is one of the integers of the parameter ``name``, as an SQL expression."""
    return Among(column, bindparam(name, type_=Integers()))


@compiles(Among, "sqlite")
def _sqlite(element: Any, compiler: Any, **options: Any) -> str:
    which, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({which} IN (SELECT value FROM json_each({values})))"


@compiles(Among, "postgresql")
def _postgresql(element: Any, compiler: Any, **options: Any) -> str:
    which, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({which} = ANY ({values}))"


def given(dialect: str, columns: Sequence[InstrumentedAttribute[Any]]) -> Select[Any]:
    """A query whose result is its parameter "rows": a list of mappings with the names of these columns."""
    rows = bindparam("rows", type_=JSON)
    if dialect == "postgresql":
        listed = func.json_to_recordset(rows).table_valued(*(column(each.key, each.type) for each in columns))
        return select(listed.render_derived(with_types=True)).where(true())
    each_row = func.json_each(rows).table_valued("value").c.value
    # Without a condition SQLite takes a following "ON CONFLICT" for a join's.
    return select(*(func.json_extract(each_row, f"$.{each.key}") for each in columns)).where(true())


def insert_new(dialect: str, table: type[Base]) -> Any:
    """An insertion that passes over rows whose key exists, also when another transaction has just put it there."""
    return (postgresql if dialect == "postgresql" else sqlite).insert(table).on_conflict_do_nothing()


def update_statistics(connection: Connection, table: type[Base]) -> None:
    """Tell Postgres how large a table has become: until it knows, it walks through all of it for a few rows."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"ANALYZE {table.__tablename__}"))
