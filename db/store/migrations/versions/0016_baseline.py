"""The schema of version 2.0, with which all upgrades begin; new ledgers are made by :mod:`db.schema.creation`."""

revision = "0016"
down_revision = None


def upgrade() -> None:
    pass
