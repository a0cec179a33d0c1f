"""What the requests with each token cost the task server, and how many results were refused."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    for name, kind in (("refused", sa.Integer), ("used", sa.Float(53)), ("unpaid", sa.Float(53))):
        op.add_column("token", sa.Column(name, kind, nullable=False, server_default="0"))
    op.add_column("token", sa.Column("charged", sa.Float(53)))
