"""The ends of attempts that brought a result: when, and when its computing began."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from sqlalchemy import Connection, Update, case, update

from db.records import AttemptRecord, Delivery
from db.states import Outcome, TaskState
from db.store.dialects import Now, given
from db.store.models import Attempt
from db.work.transitions import index_of, set_state


@cache
def _beginning(dialect: str) -> Update:
    """A statement that notes when the computing of attempts began."""
    attempt, began = given(dialect, [Attempt.id, Attempt.began]).subquery("told").c
    return update(Attempt).where(Attempt.id == attempt).values(began=case((began > Now(), Now()), else_=began))


@cache
def _completing(dialect: str) -> Update:
    return _beginning(dialect).values(ended=Now(), outcome=Outcome.DONE).where(Attempt.ended.is_(None))


def complete(
    connection: Connection, campaign_id: int, first: Sequence[Delivery], attempts: Mapping[int, AttemptRecord]
) -> None:
    """Make tasks done, and end the attempts, by number, whose results are the first of these tasks."""
    if not first:
        return
    # Not end(), which would make the tasks ready.
    connection.execute(_completing(connection.dialect.name), {"rows": _rows(first, attempts)})
    set_state(connection, campaign_id, [index_of(delivery) for delivery in first], TaskState.DONE)


def note_began(
    connection: Connection, deliveries: Sequence[Delivery], attempts: Mapping[int, AttemptRecord]
) -> None:
    """Note when the computing of results began, as far as that can be."""
    connection.execute(_beginning(connection.dialect.name), {"rows": _rows(deliveries, attempts)})


def _rows(
    deliveries: Sequence[Delivery], attempts: Mapping[int, AttemptRecord]
) -> list[dict[str, int | float | None]]:
    rows: list[dict[str, int | float | None]] = []
    for delivery in deliveries:
        began = delivery.evaluation.began
        if began is not None:
            began = max(began, attempts[delivery.attempt].granted)
        rows.append({"id": delivery.attempt, "began": began})
    return rows
