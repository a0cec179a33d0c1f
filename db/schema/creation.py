"""A new ledger: all tables of the models at once, as all migrations together would make them.

Until 2.0 is released, what the models declare may change without a migration.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping
from operator import attrgetter

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, insert, inspect, text
from sqlalchemy.schema import CreateIndex, CreateTable

from db.errors import LedgerUnusable
from db.schema.dialects import Now, Purpose, alone
from db.schema.models import Base, Ledger

VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""The table in which Alembic keeps the schema's revision."""
SQLITE = "main"
"""The only schema of a file of SQLite."""
LEDGER = {"alembic_version", "campaign", "attempt"}
"""Tables of every ledger, whatever its revision."""
ENCODINGS = {"UTF8", "SQL_ASCII"}
"""Encodings of Postgres in which every text of a ledger can be written."""


def create(connection: Connection, schema: str) -> None:
    """Create a ledger in an empty database, unless another process has done so meanwhile."""
    from db.schema.views import create as create_views

    # Of two processes that create a ledger at the same time, one creates it and the other finds it.
    alone(connection, Purpose.MAKE_LEDGER)
    if has_ledger(connection):
        return
    for table in (VERSION, *Base.metadata.sorted_tables):
        connection.execute(CreateTable(table))
        for index in sorted(table.indexes, key=attrgetter("name")):
            if index.info:
                dialect = connection.dialect.name
                index.dialect_options[dialect]["where"] = index.info[dialect]
            connection.execute(CreateIndex(index))
    create_views(connection)
    connection.execute(insert(VERSION).values(version_num=schema))
    connection.execute(insert(Ledger).values(uuid=str(uuid.uuid4()), created=Now()))


def revision_of(connection: Connection) -> str | None:
    """The revision of a ledger's schema; None: another program has removed it."""
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


_TABLES = text(
    "SELECT nspname, relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace "
    "WHERE relkind IN ('r', 'p') AND pg_table_is_visible(pg_class.oid) "
    "AND NOT starts_with(nspname, 'pg_') AND nspname <> 'information_schema'"
)
_PATH = text("SELECT current_schema(), current_setting('search_path'), current_user")
_ROOM = text(
    "SELECT current_schema(), current_user, has_schema_privilege(current_schema(), 'CREATE'), "
    "current_setting('server_encoding')"
)


def has_ledger(connection: Connection) -> bool:
    return any(tables >= LEDGER for tables in _tables(connection).values())


def is_empty(connection: Connection, where: str) -> bool:
    """Whether no table is where new ones would be; raises LedgerUnusable where there can be none."""
    return not _tables(connection).get(_home(connection, where))


def _tables(connection: Connection) -> Mapping[str, set[str]]:
    if connection.dialect.name == "sqlite":
        return {SQLITE: set(inspect(connection).get_table_names())}
    found = defaultdict[str, set[str]](set)
    for schema, table in connection.execute(_TABLES):
        found[schema].add(table)
    return found


def _home(connection: Connection, where: str) -> str:
    """Raises LedgerUnusable where there is none."""
    if connection.dialect.name == "sqlite":
        return SQLITE
    schema, path, role = connection.execute(_PATH).one()
    if schema is None:
        raise LedgerUnusable(
            f"the role {role} reaches no schema of {where} (its search_path is {path or 'empty'}): "
            f"GRANT USAGE ON SCHEMA ... TO {role}, or ALTER ROLE {role} SET search_path = ..., for one that exists"
        )
    return str(schema)


def require_room(connection: Connection, where: str) -> None:
    """Raises LedgerUnusable where an empty database cannot become a ledger."""
    if connection.dialect.name == "sqlite":
        return
    schema, role, may_create, encoding = connection.execute(_ROOM).one()
    if not may_create:
        raise LedgerUnusable(
            f"the role {role} may not create tables in {where}: GRANT CREATE ON SCHEMA {schema} TO {role}, "
            "or use another role"
        )
    if encoding not in ENCODINGS:
        raise LedgerUnusable(
            f"{where} has the encoding {encoding}, which lacks characters that a ledger may need: use a database "
            "made with ENCODING 'UTF8' TEMPLATE template0"
        )
