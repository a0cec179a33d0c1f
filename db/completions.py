"""The ends of attempts that brought a result: when, and when its computing began."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sqlalchemy import Connection, Update, case, update

from db.dialects import Now, given
from db.models import Attempt
from db.records import Delivery
from db.states import Outcome, TaskState
from db.transitions import index_of, set_state


@cache
def _beginning(dialect: str) -> Update:
    """A statement that notes when the computing of attempts began, as far as that can be."""
    told = given(dialect, [Attempt.id, Attempt.began]).subquery("told")
    attempt, began = told.c
    possible = case((began < Attempt.granted, Attempt.granted), (began > Now(), Now()), else_=began)
    return update(Attempt).where(Attempt.id == attempt).values(began=possible)


@cache
def _completing(dialect: str) -> Update:
    return _beginning(dialect).values(ended=Now(), outcome=Outcome.DONE).where(Attempt.ended.is_(None))


def complete(connection: Connection, campaign_id: int, first: Sequence[Delivery]) -> None:
    """Make tasks done, and end the attempts whose results are the first of these tasks."""
    if not first:
        return
    # Not end(), which would make the tasks ready.
    connection.execute(_completing(connection.dialect.name), {"rows": [_row(delivery) for delivery in first]})
    set_state(connection, campaign_id, [index_of(delivery) for delivery in first], TaskState.DONE)


def note_began(connection: Connection, deliveries: Sequence[Delivery]) -> None:
    """Note when the computing of results began, where their workers say so."""
    rows = [_row(delivery) for delivery in deliveries if delivery.evaluation.began is not None]
    if rows:
        connection.execute(_beginning(connection.dialect.name), {"rows": rows})


def _row(delivery: Delivery) -> dict[str, int | float | None]:
    return {"id": delivery.attempt, "began": delivery.evaluation.began}
