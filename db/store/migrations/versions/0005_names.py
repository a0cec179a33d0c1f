"""Better names of columns: the share of results to recheck, and the kind of a worker's device."""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.execute("ALTER TABLE campaign RENAME COLUMN replicate TO recheck_share")
    op.execute("ALTER TABLE worker RENAME COLUMN kernel TO device_kind")
