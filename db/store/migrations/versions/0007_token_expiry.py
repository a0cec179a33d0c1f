"""Tokens that expire, and what each is for."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("token", sa.Column("expires", sa.Float(53)))
    op.add_column("token", sa.Column("label", sa.String(100), nullable=False, server_default=""))
