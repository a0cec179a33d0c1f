"""Ledgers as earlier versions wrote them, made from today's."""

from db.schema.views import VIEWS

UNDONE: dict[str, list[str]] = {
    "0013": [],  # other views
    "0012": [
        *(f"ALTER TABLE token DROP COLUMN {column}" for column in ("leases", "held", "room", "results", "counted")),
        "ALTER TABLE task DROP COLUMN retried",
    ],
    "0011": ["DROP TABLE notice"],
    "0010": [
        *(f"DROP VIEW {view.name}" for view in VIEWS),
        "DROP INDEX attempt_worker",
        "CREATE INDEX attempt_worker ON attempt (worker_id, ended)",
        "ALTER TABLE attempt DROP COLUMN began",
        *(
            f"ALTER TABLE worker DROP COLUMN {column}"
            for column in (
                "last_seen",
                "ended",
                "ending",
                "cores",
                "processes",
                "device_model",
                "slurm_job",
                "slurm_index",
            )
        ),
    ],
    "0009": ["ALTER TABLE campaign DROP COLUMN seed"],
    "0008": [
        "DROP INDEX attempt_alone",
        "ALTER TABLE attempt DROP COLUMN steps",
        "ALTER TABLE attempt DROP COLUMN copied",
        "ALTER TABLE attempt DROP COLUMN seconds",
        "ALTER TABLE task DROP COLUMN deaths",
    ],
    "0007": [
        "DROP TABLE voter",
        "DROP INDEX worker_voter",
        "DROP INDEX result_voter",
        "DROP INDEX result_drawn",
        "DROP INDEX result_confirmed",
        "DROP INDEX result_doubt",
        "ALTER TABLE campaign DROP COLUMN secret",
        "ALTER TABLE attempt DROP COLUMN questioned",
        "ALTER TABLE worker DROP COLUMN voter_id",
        "ALTER TABLE result DROP COLUMN voter_id",
        "ALTER TABLE result DROP COLUMN confirmed_by",
        "ALTER TABLE result DROP COLUMN doubt",
        "ALTER TABLE result DROP COLUMN listed",
        "ALTER TABLE result DROP COLUMN lot",
        "ALTER TABLE witness DROP COLUMN lot",
        "CREATE TABLE recheck (campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, attempt_id INTEGER, "
        "PRIMARY KEY (campaign_id, task_index))",
        "INSERT INTO recheck (campaign_id, task_index) SELECT campaign_id, min(task_index) FROM result "
        "GROUP BY campaign_id",
        "ALTER TABLE worker ADD COLUMN distrusted FLOAT",
        "UPDATE worker SET distrusted = 5.0 WHERE id = 'b'",
    ],
}
"""What makes a ledger one of that version when it has the schema of the next."""

GONE = {"0007": {"worker": ["distrusted"]}}
"""Columns that the next version keeps elsewhere."""

LAST = max(UNDONE)
"""The version before this one."""
