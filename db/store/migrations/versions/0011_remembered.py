"""What workers are and when they were seen, and when the computing of an attempt began."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    for name, kind in (
        ("last_seen", sa.Float(53)),
        ("ended", sa.Float(53)),
        ("ending", sa.String(12)),
        ("cores", sa.Integer),
        ("processes", sa.Integer),
        ("device_model", sa.String(200)),
        ("slurm_job", sa.String(40)),
        ("slurm_index", sa.Integer),
    ):
        op.add_column("worker", sa.Column(name, kind))
    op.add_column("attempt", sa.Column("began", sa.Float(53)))
    # All that a view asks of the attempts of each worker: without the rows themselves it takes a tenth of the time.
    op.drop_index("attempt_worker", "attempt")
    op.create_index("attempt_worker", "attempt", ["worker_id", "ended", "outcome", "granted", "began"])
