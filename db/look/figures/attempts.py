"""How the attempts of workers ended: their numbers and times, and what was lost; asked of the database in sums."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, select

from db.schema import measures
from db.schema.declaring import aliased
from db.schema.dialects import among
from db.schema.measures import DELIVERED
from db.schema.models import Attempt, Result, same_task
from db.states import LOST, Outcome
from db.store.transaction import CAMPAIGN, Transaction


@dataclass(frozen=True, slots=True)
class Ended:
    """The attempts of a worker that ended."""

    worker: str
    done: int  # brought the first results of their tasks
    further: int  # brought further results in time
    # began, arrived: when the first of the computations that are done began, or was granted if that is unknown, and
    # when the last of their results arrived; None: there are none
    began: float | None
    arrived: float | None
    attempts: int  # of all outcomes

    @property
    def all_brought_results(self) -> bool:
        """In time."""
        return self.done + self.further == self.attempts


@dataclass(frozen=True, slots=True)
class CutShort:
    """Those of a worker that ended in one way, other than by a result: see :mod:`db.schema.measures`."""

    worker: str
    outcome: Outcome
    attempts: int
    lost: int
    seconds: float  # of the lost ones
    unbegun: int
    unknown: int
    late: int  # how many brought a result all the same
    # began, arrived: of the late ones whose results were accepted; None: there are none
    began: float | None
    arrived: float | None


@dataclass(frozen=True)
class LostAttempts:
    """What was lost in one way."""

    outcome: Outcome
    attempts: int
    seconds: float  # for how long they computed, as far as their workers said
    unbegun: int  # how many more were given back before computing began; they cost nothing
    unknown: int  # how many more there were of which their workers said nothing


def lost_by_outcome(parts: Iterable[CutShort]) -> tuple[LostAttempts, ...]:
    """Of every way in which attempts may end without a result."""
    found: dict[Outcome, list[CutShort]] = {outcome: [] for outcome in LOST}
    for part in parts:
        found[part.outcome].append(part)
    return tuple(
        LostAttempts(
            outcome,
            sum(part.lost for part in its),
            sum(part.seconds for part in its),
            sum(part.unbegun for part in its),
            sum(part.unknown for part in its),
        )
        for outcome, its in found.items()
    )


@dataclass(frozen=True)
class Elapsed:
    """From the first computing that led to a result to the last result, in seconds since 1970."""

    began: float
    arrived: float

    @property
    def seconds(self) -> float:
        return self.arrived - self.began


def elapsed(parts: Iterable[Ended | CutShort | Elapsed]) -> Elapsed | None:
    """Of the first results of tasks, and of late ones that were accepted; None: there are none."""
    found = None
    for part in parts:
        if part.began is not None and part.arrived is not None:
            known = found or Elapsed(part.began, part.arrived)
            found = Elapsed(min(part.began, known.began), max(part.arrived, known.arrived))
    return found


_OF_FEW: ColumnElement[bool] = Attempt.campaign_id == CAMPAIGN
# The index of workers contains all columns of the first query: no row of an attempt is read.
_OF_MANY = among(Attempt.worker_id, "workers")


_is_done = Attempt.outcome == Outcome.DONE


def _ended(among: ColumnElement[bool], arrived: ColumnElement[Any]) -> Select[*tuple[Any, ...]]:
    done, further = (func.count().filter(Attempt.outcome == outcome) for outcome in DELIVERED)
    # In the order of the index, so that nothing is sorted.
    return (
        select(
            Attempt.worker_id,
            done.label("done"),
            further.label("further"),
            func.min(func.coalesce(Attempt.began, Attempt.granted)).filter(_is_done).label("began"),
            arrived.label("arrived"),
            func.count().label("attempts"),
        )
        .where(among, Attempt.ended.is_not(None))
        .group_by(Attempt.worker_id)
    )


_last = aliased(Attempt)
_LAST_DONE = select(func.max(_last.ended)).where(
    _last.worker_id == Attempt.worker_id, _last.outcome == Outcome.DONE, _last.ended.is_not(None)
)
_ENDED_OF_FEW = _ended(_OF_FEW, func.max(Attempt.ended).filter(_is_done))
# The last result is at the end of the worker's part of the index.
_ENDED_OF_MANY = _ended(_OF_MANY, _LAST_DONE.correlate(Attempt).scalar_subquery())


def ended(transaction: Transaction, workers: Collection[str], few: bool) -> Iterator[Ended]:
    """``few``: whether attempts are read by their campaign; else by these workers, with those in other ones."""
    rows = transaction.execute(_ENDED_OF_FEW if few else _ENDED_OF_MANY, workers=workers)
    return (Ended(*row) for row in rows)


@cache
def _cut_short(few: bool) -> Select[*tuple[Any, ...]]:
    """Composed when it is first asked for: that takes a hundredth of the time of a short command."""
    # Not by the index of campaigns (+ 0): otherwise SQLite would read all its attempts.
    of_many = _OF_MANY, Attempt.campaign_id + 0 == CAMPAIGN
    cut = measures.cut_short(*((_OF_FEW,) if few else of_many))
    lost = measures.lost(cut)
    its_result = select(Result.accepted).where(same_task(Result, cut.c), Result.attempt_id == cut.c.id)
    # Looked up for the few that brought one.
    accepted = case((cut.c.late == 1, its_result.correlate(cut).scalar_subquery()))
    return (
        select(
            cut.c.worker_id,
            cut.c.outcome,
            func.count().label("attempts"),
            func.sum(case((lost, 1), else_=0)).label("lost"),
            func.sum(case((lost, measures.seconds(cut)), else_=0.0)).label("seconds"),
            func.sum(case((measures.unbegun(cut), 1), else_=0)).label("unbegun"),
            func.sum(case((measures.unknown(cut), 1), else_=0)).label("unknown"),
            func.sum(cut.c.late).label("late"),
            func.min(case((accepted.is_not(None), func.coalesce(cut.c.began, cut.c.granted)))).label("began"),
            func.max(accepted).label("arrived"),
        )
        .select_from(cut)
        .group_by(cut.c.worker_id, cut.c.outcome)
    )


def cut_short(transaction: Transaction, workers: Collection[str], few: bool) -> Iterator[CutShort]:
    """What was cut short of the attempts of workers, see :attr:`Ended.all_brought_results`."""
    rows = transaction.execute(_cut_short(few), workers=workers) if workers else ()
    return (
        CutShort(
            row.worker_id,
            Outcome(row.outcome),
            row.attempts,
            row.lost,
            row.seconds,
            row.unbegun,
            row.unknown,
            row.late,
            row.began,
            row.arrived,
        )
        for row in rows
    )
