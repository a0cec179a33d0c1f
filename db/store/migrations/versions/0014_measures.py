"""The views define what is lost as everything else does; they are made anew after each migration."""

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    pass
