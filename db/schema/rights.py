"""The rights of a Postgres role that only reads a ledger: all columns except a few that no reading command needs.

On SQLite, everyone who may read the file can read all of it; ``langford query`` shows these columns as null there.
"""

from __future__ import annotations

from collections.abc import Iterator

from db.schema.models import Attempt, Base, Campaign, Token
from db.schema.views import VIEWS

HIDDEN = frozenset(
    (attribute.class_.__tablename__, attribute.key) for attribute in (Campaign.secret, Token.digest, Attempt.nonce)
)
"""(table, column) of the secret of the draw, and of the hashes of tokens and nonces.

``Voter.token`` is a hash of a token too, but commands that read compare voters by it: one token has one vote.  It
opens nothing, since a server hashes what it is shown.
"""


def granted(role: str) -> Iterator[str]:
    """The owner of the ledger executes them; ``role`` is quoted if necessary."""
    yield f"GRANT USAGE ON SCHEMA public TO {role};"
    whole = ["alembic_version", *(view.name for view in VIEWS)]
    for table in Base.metadata.sorted_tables:
        shown = [column.name for column in table.columns if (table.name, column.name) not in HIDDEN]
        if len(shown) == len(table.columns):
            whole.append(table.name)
        else:
            yield f"GRANT SELECT ({', '.join(shown)}) ON {table.name} TO {role};"
    yield f"GRANT SELECT ON {', '.join(whole)} TO {role};"
