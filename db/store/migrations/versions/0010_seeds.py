"""Seeds: a campaign is of one of a method's sums; those of earlier versions are of the only one."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("campaign", sa.Column("seed", sa.Integer, nullable=False, server_default="0"))
