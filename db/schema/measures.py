"""What became of the attempts that a scheduler, a failure or the clock ended, each word defined once.

The views show it, and :mod:`db.look.figures` asks it.

brought a result
    its result is the accepted one of its task or a further one, also if it arrived after the attempt had ended.
begun
    a device of its worker computed it.  The ledger knows so of an attempt with a result, of one that failed or
    died, and of one whose worker reported steps.  Of the others, a worker with D devices computes the first D that
    it held at once, less those whose results it delivered later; where D is unknown, all.
started
    when computing began.  Where the worker did not report that, a device was free from the result that it delivered
    before, or from the lease on: with j devices in use, the last result but j - 1 counts.
lost
    an attempt that began, and ended without bringing a result.  Its seconds last from the start to the end.
unbegun
    an attempt that ended without a result before it began.  It costs nothing.
taken away
    a lost attempt that did not fail: preempted, expired or released.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import CTE, BigInteger, ColumnElement, Select, Subquery, and_, case, cast, func, or_, select

from db.schema.declaring import aliased
from db.schema.dialects import Later
from db.schema.models import Attempt, Result, Witness, Worker, same_task
from db.states import COMPLAINTS, LOST, Outcome

DELIVERED = (Outcome.DONE, Outcome.SUPERSEDED)
"""The outcomes of attempts whose results arrived in time."""
NEIGHBOURS = 16
"""How many results of a worker, before and after an attempt, are looked at to tell which devices were in use: where
more are, a task waits little between its lease and its start."""
_other = aliased(Attempt)


def _is_of_an_attempt(table: type[Result] | type[Witness]) -> ColumnElement[bool]:
    has = select(table.attempt_id).where(same_task(table, Attempt), table.attempt_id == Attempt.id)
    return has.correlate(Attempt).exists()


BROUGHT_RESULT = or_(*(_is_of_an_attempt(table) for table in (Result, Witness)))


def cut_short(*conditions: ColumnElement[bool], running: bool = False, name: str = "cut_short") -> CTE:
    """The attempts that ended otherwise than by a result, or, with ``running``, those that run, with these columns.

    id, campaign_id, task_index, worker_id, outcome, granted, ended; late: 1 if it brought a result all the same;
    begun: 1 or 0; started: when, as defined above, also where it had not begun.
    """
    # Each step is materialized: SQLite would compute a column again wherever it is used.
    chosen = Attempt.ended.is_(None) if running else Attempt.outcome.in_(LOST)
    ended = _once(
        select(
            *(Attempt.id, Attempt.campaign_id, Attempt.task_index, Attempt.worker_id, Attempt.outcome),
            *(Attempt.granted, Attempt.began, Attempt.ended, Attempt.steps),
            func.coalesce(Attempt.ended, Attempt.deadline).label("moment"),
            case((BROUGHT_RESULT, 1), else_=0).label("late"),
        ).where(chosen, *conditions),
        f"{name}_ended",
    )
    told = ended.c.began.is_not(None), ended.c.steps.is_not(None), ended.c.outcome.in_(COMPLAINTS)
    known = case((or_(*told, ended.c.late == 1), 1), else_=0)
    # Those that were held at once ended together, up to the milliseconds of a statement of Postgres.
    together = ended.c.campaign_id, ended.c.worker_id, cast(func.coalesce(ended.c.ended, 0.0), BigInteger)
    held = (
        select(
            ended,
            Worker.processes,
            known.label("known"),
            func.row_number().over(partition_by=together, order_by=(known.desc(), ended.c.id)).label("place"),
        )
        .join(Worker, Worker.id == ended.c.worker_id)
        .subquery("held")
    )
    used = _once(select(held, (held.c.place + _computed_on(held)).label("devices")), f"{name}_used")
    fits = used.c.devices <= used.c.processes
    free_since = case((and_(used.c.began.is_(None), fits), _free_since(used)), else_=used.c.granted)
    found = select(
        *(used.c.id, used.c.campaign_id, used.c.task_index, used.c.worker_id, used.c.outcome),
        *(used.c.granted, used.c.ended, used.c.late),
        case((or_(used.c.known == 1, used.c.processes.is_(None), fits), 1), else_=0).label("begun"),
        func.coalesce(used.c.began, Later(used.c.granted, func.coalesce(free_since, used.c.granted))).label(
            "started"
        ),
    )
    return _once(found, name)


def _once(query: Select[*tuple[Any, ...]], name: str) -> CTE:
    return query.cte(name).prefix_with("MATERIALIZED")


def _computed_on(held: Subquery) -> ColumnElement[int]:
    """How many other devices of its worker computed, when an attempt ended, what they delivered later."""
    later = (
        select(_other.began)
        .where(_other.worker_id == held.c.worker_id, _other.outcome.in_(DELIVERED), _other.ended > held.c.moment)
        .order_by(_other.ended)
        .limit(NEIGHBOURS)
        .correlate(held)
        .subquery("later")
    )
    computed = select(func.count()).select_from(later).where(later.c.began <= held.c.moment)
    return computed.correlate(held).scalar_subquery()


def _free_since(used: CTE) -> ColumnElement[float]:
    """When the result arrived after which its device was free; null: the worker had delivered too few."""
    earlier = _other.worker_id == used.c.worker_id, _other.outcome.in_(DELIVERED), _other.ended <= used.c.moment
    results = select(_other.ended).where(*earlier).order_by(_other.ended.desc()).limit(1).correlate(used)
    # Each place is looked up in the index by itself: to number the results would cost three times as much.
    places = ((used.c.devices == place, results.offset(place - 1)) for place in range(1, NEIGHBOURS + 1))
    return case(*((is_this, result.scalar_subquery()) for is_this, result in places))


def lost(attempts: CTE) -> ColumnElement[bool]:
    """Of :func:`cut_short`."""
    return and_(attempts.c.late == 0, attempts.c.begun == 1)


def unbegun(attempts: CTE) -> ColumnElement[bool]:
    """Of :func:`cut_short`."""
    return and_(attempts.c.late == 0, attempts.c.begun == 0)


def seconds(attempts: CTE) -> ColumnElement[float]:
    """For how long an attempt of :func:`cut_short` computed, at most."""
    return attempts.c.ended - attempts.c.started
