"""The account of each token: its leases and results; and from which attempt on the failures of a task count."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    for name, kind in (
        ("leases", sa.Float(53)),
        ("held", sa.Integer),
        ("room", sa.Integer),
        ("results", sa.Integer),
    ):
        op.add_column("token", sa.Column(name, kind, nullable=False, server_default="0"))
    op.add_column("token", sa.Column("counted", sa.Float(53)))
    op.add_column("task", sa.Column("retried", sa.Integer, nullable=False, server_default="0"))
