"""Votes: voters instead of workers are trusted or not, lots and confirmations instead of a queue of rechecks."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

VOTER_OF = """
    SELECT worker.voter_id FROM attempt JOIN worker ON worker.id = attempt.worker_id
    WHERE attempt.id = result.attempt_id
"""
IMPORTERS = "SELECT worker_id FROM attempt WHERE note LIKE 'import %'"


def upgrade() -> None:
    connection = op.get_bind()
    _add_columns()
    for campaign_id in connection.scalars(sa.text("SELECT id FROM campaign")).all():
        connection.execute(
            sa.text("UPDATE campaign SET secret = :secret WHERE id = :id"),
            {"secret": secrets.token_hex(32), "id": campaign_id},
        )
    _make_voters()
    _draw()
    _keep_decisions()
    op.drop_table("recheck")
    op.execute("ALTER TABLE worker DROP COLUMN distrusted")
    op.create_index("voter_machine", "voter", ["host", "token"])
    op.create_index("worker_voter", "worker", ["voter_id"])
    op.create_index("result_voter", "result", ["voter_id"])
    # SQLite uses an index with a condition only for queries with the very same condition.
    listed = "listed = 1" if connection.dialect.name == "sqlite" else "listed"
    op.execute(f"CREATE INDEX result_drawn ON result (campaign_id, voter_id, confirmed_by, lot) WHERE {listed}")
    op.execute("CREATE INDEX voter_distrusted ON voter (id) WHERE distrusted IS NOT NULL")
    op.execute("CREATE INDEX result_confirmed ON result (confirmed_by) WHERE confirmed_by IS NOT NULL")
    op.execute("CREATE INDEX result_doubt ON result (campaign_id, doubt) WHERE doubt IS NOT NULL")


def _add_columns() -> None:
    op.create_table(
        "voter",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("device_kind", sa.String(10), nullable=False),
        sa.Column("kernels", sa.String(64), nullable=False),
        sa.Column("valid", sa.Integer, nullable=False),
        sa.Column("distrusted", sa.Float(53)),
    )
    op.add_column("campaign", sa.Column("secret", sa.String(64), nullable=False, server_default=""))
    op.add_column("attempt", sa.Column("questioned", sa.Float(53)))
    for table, column in (("worker", "voter_id"), ("result", "voter_id"), ("result", "confirmed_by")):
        op.add_column(table, sa.Column(column, sa.Integer))
    op.add_column("result", sa.Column("doubt", sa.String(10)))
    op.add_column("result", sa.Column("listed", sa.Boolean, nullable=False, server_default=sa.false()))
    for table in ("result", "witness"):
        op.add_column(table, sa.Column("lot", sa.Float(53), nullable=False, server_default="0"))


def _make_voters() -> None:
    """A voter for each machine, kind of device and version of the kernels, and one for each import."""
    machine = "host, '', device_kind, coalesce(kernels, '')"
    op.execute(
        "INSERT INTO voter (kind, host, token, device_kind, kernels, valid, distrusted) "
        f"SELECT 'worker', {machine}, 0, distrusted FROM ("
        "SELECT host, device_kind, kernels, min(distrusted) AS distrusted FROM worker "
        f"WHERE id NOT IN ({IMPORTERS}) GROUP BY host, device_kind, kernels, distrusted IS NULL) AS machine"
    )
    op.execute(
        "UPDATE worker SET voter_id = (SELECT min(voter.id) FROM voter WHERE voter.host = worker.host "
        "AND voter.device_kind = worker.device_kind AND voter.kernels = coalesce(worker.kernels, '') "
        "AND (voter.distrusted IS NULL) = (worker.distrusted IS NULL)) "
        f"WHERE id NOT IN ({IMPORTERS})"
    )
    # For a moment the kernels of these voters name their worker.
    op.execute(
        "INSERT INTO voter (kind, host, token, device_kind, kernels, valid, distrusted) "
        f"SELECT 'import', host, '', device_kind, id, 0, distrusted FROM worker WHERE id IN ({IMPORTERS})"
    )
    op.execute(
        "UPDATE worker SET voter_id = (SELECT voter.id FROM voter WHERE voter.kernels = worker.id) "
        "WHERE voter_id IS NULL"
    )
    op.execute("UPDATE voter SET kernels = '' WHERE kind = 'import'")


def _draw() -> None:
    """New lots, which are unknown to all; results that were queued for a recheck stay drawn."""
    sqlite = op.get_bind().dialect.name == "sqlite"
    lot = "(abs(random() / 2) / 4611686018427387905.0)" if sqlite else "random()"
    op.execute(f"UPDATE result SET lot = {lot}, voter_id = ({VOTER_OF})")
    op.execute(f"UPDATE witness SET lot = {lot}")
    op.execute(
        "UPDATE result SET lot = 0 WHERE EXISTS (SELECT 1 FROM recheck WHERE "
        "recheck.campaign_id = result.campaign_id AND recheck.task_index = result.task_index)"
    )

    op.execute(
        "UPDATE result SET listed = EXISTS (SELECT 1 FROM campaign WHERE campaign.id = result.campaign_id "
        "AND campaign.recheck_share > 0)"
    )


def _keep_decisions() -> None:
    """Confirmations by workers of other machines, and conflicts that are not settled."""
    op.execute(
        "UPDATE result SET confirmed_by = (SELECT min(other.id) FROM witness "
        "JOIN attempt ON attempt.id = witness.attempt_id JOIN worker ON worker.id = attempt.worker_id "
        "JOIN voter AS other ON other.id = worker.voter_id JOIN voter AS own ON own.id = result.voter_id "
        "WHERE witness.campaign_id = result.campaign_id AND witness.task_index = result.task_index "
        "AND witness.value = result.value AND other.kind = 'worker' AND own.kind = 'worker' "
        "AND other.host <> own.host AND other.distrusted IS NULL)"
    )
    op.execute(
        "UPDATE result SET doubt = 'conflict' WHERE 'conflict' = (SELECT kind FROM event WHERE "
        "event.campaign_id = result.campaign_id AND event.task_index = result.task_index "
        "AND kind IN ('conflict', 'settled') ORDER BY event.id DESC LIMIT 1)"
    )
