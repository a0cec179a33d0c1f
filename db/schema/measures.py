"""What became of the attempts that a scheduler, a failure or the clock ended, each word defined once.

The views show it, and :mod:`db.look.figures` asks it.  A worker says for how long it has computed an attempt
(``Attempt.computed``), whenever it renews the lease, gives the task back, or reports a failure or a result.

brought a result
    its result is the accepted one of its task or a further one, also if it arrived after the attempt had ended.
begun
    it computed, brought a result, or failed or died.
lost
    an attempt that began, and ended without bringing a result.  It cost the seconds that it computed, known up to
    the last report of its worker.
unbegun
    an attempt that ended without a result, and that its worker had not begun.  It cost nothing.
unknown
    an attempt that ended without a result, and of which its worker had reported nothing.
"""

from __future__ import annotations

from sqlalchemy import CTE, ColumnElement, and_, case, func, or_, select

from db.schema.models import Attempt, Result, Witness, same_task
from db.states import COMPLAINTS, LOST, Outcome

DELIVERED = (Outcome.DONE, Outcome.SUPERSEDED)
"""The outcomes of attempts whose results arrived in time."""


def _is_of_an_attempt(table: type[Result] | type[Witness]) -> ColumnElement[bool]:
    has = select(table.attempt_id).where(same_task(table, Attempt), table.attempt_id == Attempt.id)
    return has.correlate(Attempt).exists()


BROUGHT_RESULT = or_(*(_is_of_an_attempt(table) for table in (Result, Witness)))


def cut_short(*conditions: ColumnElement[bool]) -> CTE:
    """The attempts that ended otherwise than by a result; late: 1 if it brought a result all the same."""
    # Materialized: SQLite would look for the result again wherever ``late`` is used.
    return (
        select(
            *(Attempt.id, Attempt.campaign_id, Attempt.task_index, Attempt.worker_id, Attempt.outcome),
            *(Attempt.granted, Attempt.began, Attempt.ended, Attempt.computed),
            case((BROUGHT_RESULT, 1), else_=0).label("late"),
        )
        .where(Attempt.outcome.in_(LOST), *conditions)
        .cte("cut_short")
        .prefix_with("MATERIALIZED")
    )


def lost(attempts: CTE) -> ColumnElement[bool]:
    """Of :func:`cut_short`."""
    return and_(attempts.c.late == 0, or_(attempts.c.computed > 0, attempts.c.outcome.in_(COMPLAINTS)))


def unbegun(attempts: CTE) -> ColumnElement[bool]:
    """Of :func:`cut_short`."""
    return and_(attempts.c.late == 0, attempts.c.computed == 0, attempts.c.outcome.not_in(COMPLAINTS))


def unknown(attempts: CTE) -> ColumnElement[bool]:
    """Of :func:`cut_short`."""
    return and_(attempts.c.late == 0, attempts.c.computed.is_(None), attempts.c.outcome.not_in(COMPLAINTS))


def seconds(attempts: CTE) -> ColumnElement[float]:
    """For how long an attempt of :func:`cut_short` computed, as far as its worker said."""
    return func.coalesce(attempts.c.computed, 0.0)
