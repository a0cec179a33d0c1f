"""Replication: rechecks of results, witnesses, and workers that are not trusted."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("campaign", sa.Column("replicate", sa.Float(53), nullable=False, server_default="0"))
    op.add_column("worker", sa.Column("kernel", sa.String(10), nullable=False, server_default="cpu"))
    op.add_column("worker", sa.Column("distrusted", sa.Float(53), nullable=True))
    op.create_index("attempt_worker", "attempt", ["worker_id"])
    op.create_table(
        "recheck",
        sa.Column("campaign_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("task_index", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("attempt_id", sa.Integer, sa.ForeignKey("attempt.id"), nullable=True),
        sa.ForeignKeyConstraint(["campaign_id", "task_index"], ["task.campaign_id", "task.task_index"]),
    )
    op.create_table(
        "witness",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("campaign_id", sa.Integer, nullable=False),
        sa.Column("task_index", sa.Integer, nullable=False),
        sa.Column("attempt_id", sa.Integer, sa.ForeignKey("attempt.id"), nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("residue", sa.Text, nullable=False),
        sa.Column("evaluated", sa.Text, nullable=False),
        sa.Column("seconds", sa.Float(53), nullable=False),
        sa.Column("provenance", sa.Text, nullable=False),
        sa.Column("accepted", sa.Float(53), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id", "task_index"], ["task.campaign_id", "task.task_index"]),
    )
    op.create_index("witness_task", "witness", ["campaign_id", "task_index"])
