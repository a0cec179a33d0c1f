"""An index of the running leases alone: overdue leases are found fast among many ended attempts."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.drop_index("attempt_open", "attempt")
    running = sa.text("ended IS NULL")
    op.create_index("attempt_open", "attempt", ["deadline"], sqlite_where=running, postgresql_where=running)
