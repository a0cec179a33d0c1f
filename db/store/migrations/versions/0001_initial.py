"""The first schema: campaigns, tasks, workers, attempts, results, events."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "campaign",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(200), nullable=False, unique=True),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("method", sa.String(40), nullable=False),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("tasks", sa.Integer, nullable=False),
        sa.Column("work", sa.Float(53), nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
    )
    op.create_table(
        "task",
        sa.Column("campaign_id", sa.Integer, sa.ForeignKey("campaign.id"), primary_key=True),
        sa.Column("task_index", sa.Integer, primary_key=True),
        sa.Column("work", sa.Float(53), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
    )
    op.create_index("task_queue", "task", ["campaign_id", "state", "work"])
    op.create_table(
        "worker",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("process", sa.String(80), nullable=False),
        sa.Column("started", sa.Float(53), nullable=False),
    )
    op.create_table(
        "attempt",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("campaign_id", sa.Integer, nullable=False),
        sa.Column("task_index", sa.Integer, nullable=False),
        sa.Column("worker_id", sa.String(36), sa.ForeignKey("worker.id"), nullable=False),
        sa.Column("granted", sa.Float(53), nullable=False),
        sa.Column("deadline", sa.Float(53), nullable=False),
        sa.Column("ended", sa.Float(53)),
        sa.Column("outcome", sa.String(12)),
        sa.Column("note", sa.Text),
        sa.ForeignKeyConstraint(["campaign_id", "task_index"], ["task.campaign_id", "task.task_index"]),
    )
    op.create_index("attempt_open", "attempt", ["ended", "deadline"])
    op.create_index("attempt_task", "attempt", ["campaign_id", "task_index"])
    op.create_table(
        "result",
        sa.Column("campaign_id", sa.Integer, primary_key=True),
        sa.Column("task_index", sa.Integer, primary_key=True),
        sa.Column("attempt_id", sa.Integer, sa.ForeignKey("attempt.id"), nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("residue", sa.Text, nullable=False),
        sa.Column("evaluated", sa.Text, nullable=False),
        sa.Column("seconds", sa.Float(53), nullable=False),
        sa.Column("provenance", sa.Text, nullable=False),
        sa.Column("accepted", sa.Float(53), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id", "task_index"], ["task.campaign_id", "task.task_index"]),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("campaign_id", sa.Integer, sa.ForeignKey("campaign.id"), nullable=False),
        sa.Column("task_index", sa.Integer),
        sa.Column("attempt_id", sa.Integer),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
    )


def downgrade() -> None:
    for table in ("event", "result", "attempt", "worker", "task", "campaign"):
        op.drop_table(table)
