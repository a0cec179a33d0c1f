"""SQL views of a ledger, for users of sqlite3, psql or datasette, and who may read them.

They are created anew after every migration: once 2.0 is released, a change of a view needs one, even an empty one.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, Dialect

from db.schema import view_queries
from db.schema.models import Attempt, Base, Campaign, Token
from db.schema.view_queries import View

VIEWS = (
    view_queries.tasks(),
    view_queries.workers(),
    view_queries.throughput(),
    view_queries.lost_time(),
    view_queries.disagreements(),
)
"""All views of a ledger."""


def definition(view: View, dialect: Dialect) -> str:
    query = view.query.compile(dialect=dialect, compile_kwargs={"literal_binds": True})
    return f"CREATE VIEW {view.name} AS\n{query}"


def drop(connection: Connection) -> None:
    """Remove the views, so that the tables below them may change."""
    for view in VIEWS:
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS {view.name}")


def create(connection: Connection) -> None:
    for view in VIEWS:
        connection.exec_driver_sql(definition(view, connection.dialect))


HIDDEN = frozenset((column.table.name, column.key) for column in (Campaign.secret, Token.digest, Attempt.nonce))
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
