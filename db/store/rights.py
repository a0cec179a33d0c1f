"""What a role of Postgres needs that only reads a ledger: all but a few columns, which no reading command asks for.

In SQLite whoever may read the file can read all of it; the connection of ``langford query`` shows these columns as
null there.
"""

from __future__ import annotations

from collections.abc import Iterator

from db.store.models import Attempt, Base, Campaign, Token
from db.store.views import VIEWS

HIDDEN = frozenset(
    (attribute.class_.__tablename__, attribute.key) for attribute in (Campaign.secret, Token.digest, Attempt.nonce)
)
"""(table, column) of what tells which results are drawn, and of the hashes of tokens and nonces."""


def granted(role: str) -> Iterator[str]:
    """The statements that let a role read a ledger, but not what is hidden; the owner of the ledger executes them.

    ``role``: its name, quoted if it has to be.
    """
    yield f"GRANT USAGE ON SCHEMA public TO {role};"
    whole = ["alembic_version", *(view.name for view in VIEWS)]
    for table in Base.metadata.sorted_tables:
        shown = [column.name for column in table.columns if (table.name, column.name) not in HIDDEN]
        if len(shown) == len(table.columns):
            whole.append(table.name)
        else:
            yield f"GRANT SELECT ({', '.join(shown)}) ON {table.name} TO {role};"
    yield f"GRANT SELECT ON {', '.join(whole)} TO {role};"
