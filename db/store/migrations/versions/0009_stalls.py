"""Tasks that end processes, the length of leases, copies at the end of a campaign, and progress."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

ON_SQLITE, ON_POSTGRES = sa.text("ended IS NULL AND copied = 0"), sa.text("ended IS NULL AND NOT copied")


def upgrade() -> None:
    op.add_column("task", sa.Column("deaths", sa.Integer, nullable=False, server_default="0"))
    op.add_column("attempt", sa.Column("seconds", sa.Float(53)))
    op.add_column("attempt", sa.Column("copied", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("attempt", sa.Column("steps", sa.BigInteger))
    columns = ["campaign_id", "granted"]
    op.create_index("attempt_alone", "attempt", columns, sqlite_where=ON_SQLITE, postgresql_where=ON_POSTGRES)
