"""A version of the program that needs a later schema than this one: it has one migration more."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from db.store import revision

LATER = "9000"
MIGRATION = f'''
import sqlalchemy as sa
from alembic import op

revision = "{LATER}"
down_revision = "{revision.SCHEMA}"


def upgrade() -> None:
    op.add_column("task", sa.Column("colour", sa.Integer, nullable=False, server_default="7"))
'''


@cache
def write_migrations() -> Path:
    """The migrations of that version, in a folder that lasts as long as this process."""
    folder = tempfile.mkdtemp(prefix="langford-later-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    migrations = Path(folder) / "migrations"
    shutil.copytree(revision.MIGRATIONS, migrations)
    (migrations / "versions" / f"{LATER}_colour.py").write_text(MIGRATION)
    return migrations


def be_later(migrations: str) -> None:
    """Make this process one of that version."""
    revision.SCHEMA, revision.MIGRATIONS = LATER, Path(migrations)
