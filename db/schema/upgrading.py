"""Upgrades of a ledger by Alembic; a separate module, because Alembic takes long to load and is rarely needed."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Engine

from db.errors import LedgerUnusable
from db.schema import views
from db.schema.dialects import Purpose, alone


def upgrade(engine: Engine, migrations: Path, schema: str) -> None:
    """Bring a database to a schema in one transaction; raises LedgerUnusable when no migration leads there."""
    config = Config()
    config.set_main_option("script_location", str(migrations))
    with engine.begin() as connection:
        # Of two processes that upgrade a ledger at the same time, one does it, and the other finds it done.
        alone(connection, Purpose.MAKE_LEDGER)
        config.attributes["connection"] = connection
        views.drop(connection)
        try:
            command.upgrade(config, schema)
        except CommandError as error:
            raise LedgerUnusable(
                f"the ledger cannot be upgraded to {schema} ({error}); nothing was changed: "
                "use the version that wrote it"
            ) from error
        views.create(connection)
