"""Ledgers as earlier versions wrote them, made from today's."""

UNDONE = {
    "0007": ["ALTER TABLE campaign DROP COLUMN seed"],
    "0006": ["ALTER TABLE token DROP COLUMN expires", "ALTER TABLE token DROP COLUMN label"],
    "0005": [
        "DROP TABLE ledger",
        "DROP INDEX attempt_worker",
        "CREATE INDEX attempt_worker ON attempt (worker_id)",
        "ALTER TABLE campaign DROP COLUMN uuid",
        "ALTER TABLE attempt DROP COLUMN nonce",
        "ALTER TABLE worker DROP COLUMN kernels",
    ],
    "0004": [
        "ALTER TABLE campaign RENAME COLUMN recheck_share TO replicate",
        "ALTER TABLE worker RENAME COLUMN device_kind TO kernel",
    ],
    "0003": ["DROP INDEX attempt_open", "CREATE INDEX attempt_open ON attempt (ended, deadline)"],
    "0002": [
        "DROP TABLE recheck",
        "DROP TABLE witness",
        "DROP INDEX attempt_worker",
        "ALTER TABLE campaign DROP COLUMN replicate",
        "ALTER TABLE worker DROP COLUMN kernel",
        "ALTER TABLE worker DROP COLUMN distrusted",
    ],
    "0001": ["DROP TABLE token"],
}
"""What makes a ledger one of that version when it has the schema of the next."""

LAST = max(UNDONE)
"""The version before this one."""
