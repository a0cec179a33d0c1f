"""Ledgers as earlier versions wrote them, made from today's."""

UNDONE: dict[str, list[str]] = {
    "0014": [f"ALTER TABLE token DROP COLUMN {column}" for column in ("refused", "used", "unpaid", "charged")],
    "0013": [],  # other views
    "0012": [
        *(f"ALTER TABLE token DROP COLUMN {column}" for column in ("leases", "held", "room", "results", "counted")),
        "ALTER TABLE task DROP COLUMN retried",
    ],
}
"""What makes a ledger one of that version when it has the schema of the next."""

LAST = max(UNDONE)
"""The version before this one."""
