"""A new ledger: all tables at once, as all migrations together would make them."""

from __future__ import annotations

import uuid
from operator import attrgetter

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, insert
from sqlalchemy.schema import CreateIndex, CreateTable

from db.schema import reach, views
from db.schema.dialects import Now, Purpose, alone
from db.schema.models import Base, Ledger

VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""The table in which Alembic keeps the schema's revision."""


def create(connection: Connection, schema: str) -> None:
    """Create a ledger in an empty database, unless another process has done so meanwhile."""
    # Of two processes that create a ledger at the same time, one creates it and the other finds it.
    alone(connection, Purpose.MAKE_LEDGER)
    if reach.has_ledger(connection):
        return
    for table in (VERSION, *Base.metadata.sorted_tables):
        connection.execute(CreateTable(table))
        for index in sorted(table.indexes, key=attrgetter("name")):
            connection.execute(CreateIndex(index))
    views.create(connection)
    connection.execute(insert(VERSION).values(version_num=schema))
    connection.execute(insert(Ledger).values(uuid=str(uuid.uuid4()), created=Now()))
