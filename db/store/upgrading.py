"""Upgrades of a ledger by Alembic; a separate module, because Alembic takes long to load and is rarely needed."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Engine

from db.errors import LedgerUnusable
from db.store import views
from db.store.dialects import Purpose, alone


def upgrade(engine: Engine, migrations: Path, schema: str) -> None:
    """Upgrade a database to a schema in one transaction; raises LedgerUnusable.

    Args:
        engine: of a ledger of an earlier schema, or of an empty database.
        migrations: folder with Alembic's environment and versions.
        schema: the revision to reach.
    """
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
                f"the ledger cannot be upgraded to {schema} ({error}); it is left as it was: "
                "use the version that wrote it"
            ) from error
        views.create(connection)
