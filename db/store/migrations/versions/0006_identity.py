"""Identities: UUIDs of the ledger and of its campaigns, hashed nonces of attempts, kernels of workers."""

import time
import uuid

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    connection = op.get_bind()
    op.create_table(
        "ledger",
        sa.Column("uuid", sa.String(36), primary_key=True),
        sa.Column("created", sa.Float(53), nullable=False),
    )
    connection.execute(
        sa.text("INSERT INTO ledger (uuid, created) VALUES (:uuid, :created)"),
        {"uuid": str(uuid.uuid4()), "created": time.time()},
    )
    op.add_column("campaign", sa.Column("uuid", sa.String(36), nullable=False, server_default=""))
    for campaign_id in connection.scalars(sa.text("SELECT id FROM campaign")).all():
        connection.execute(
            sa.text("UPDATE campaign SET uuid = :uuid WHERE id = :id"),
            {"uuid": str(uuid.uuid4()), "id": campaign_id},
        )
    op.add_column("attempt", sa.Column("nonce", sa.String(64), nullable=True))
    op.add_column("worker", sa.Column("kernels", sa.String(64), nullable=True))
    # The running attempts of one worker are asked for with each lease: they must be found among all it ever made.
    op.drop_index("attempt_worker", "attempt")
    op.create_index("attempt_worker", "attempt", ["worker_id", "ended"])
