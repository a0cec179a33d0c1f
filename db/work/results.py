"""Results that arrive: the first result of each task, and imported results that are known already.

Further results are the subject of :mod:`db.trust`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from sqlalchemy import Float, String, Update, bindparam, case, column, false, func, select, true, update
from sqlalchemy import insert as db_insert

from db.attempts import Delivery
from db.files.exports import ORIGIN_PREFIX, origin
from db.files.promise import lot
from db.records import AttemptRecord
from db.schema.dialects import Now, among, given, insert_new
from db.schema.models import Attempt, Campaign, Result
from db.states import Outcome, TaskState
from db.store.transaction import CAMPAIGN, Transaction
from db.work.transitions import set_state
from langford.result import Evaluation, PartialResult

_IMPORTED = select(Attempt.task_index, Attempt.note).where(
    Attempt.campaign_id == CAMPAIGN, among(Attempt.task_index, "tasks"), Attempt.note.startswith(ORIGIN_PREFIX)
)
_ACCEPTED = select(
    Result.task_index, Result.value, Result.residue, Result.evaluated, Result.seconds, Result.provenance
).where(Result.campaign_id == CAMPAIGN, among(Result.task_index, "tasks"))


def origins(transaction: Transaction, tasks: Collection[int]) -> set[tuple[int, str]]:
    """(task, origin) of all imported results of some tasks and of the accepted ones, see
    :func:`db.files.exports.origin`.
    """
    found = {(row.task_index, row.note) for row in transaction.execute(_IMPORTED, tasks=tasks)}
    accepted: Iterable[Sequence[Any]] = transaction.execute(_ACCEPTED, tasks=tasks)
    for *result, seconds, provenance in accepted:
        evaluation = Evaluation(PartialResult.from_text(*result), seconds, provenance)
        found.add((evaluation.result.index, origin(evaluation)))
    return found


@cache
def _starting(dialect: str) -> Any:
    given_rows = given(dialect, [Attempt.task_index, Attempt.note]).add_columns(
        CAMPAIGN, bindparam("worker", type_=String), bindparam("nonce", type_=String), Now(), Now(), false()
    )
    columns = ["task_index", "note", "campaign_id", "worker_id", "nonce", "granted", "deadline", "copied"]
    return db_insert(Attempt).from_select(columns, given_rows).returning(Attempt.task_index, Attempt.id)


def start(transaction: Transaction, worker_id: str, nonce: str, notes: Mapping[int, str]) -> dict[int, int]:
    """Start an attempt at each of some tasks without a lease; ``nonce``: digest.  Returns the attempts by task."""
    rows = [{"task_index": index, "note": note} for index, note in notes.items()]
    statement = _starting(transaction.dialect)
    return dict(transaction.execute(statement, rows=rows, worker=worker_id, nonce=nonce).all())


def insert(
    transaction: Transaction, deliveries: Sequence[Delivery], attempts: Mapping[int, AttemptRecord]
) -> set[int]:
    """Insert results of tasks that have none; returns the tasks whose results were inserted.

    A task is not among them when another transaction was faster.  ``attempts`` are by id.
    """
    if not deliveries:
        return set()
    # Ordered by task: of two transactions with the same tasks, one waits for the other without a deadlock.
    rows = [
        {
            **row_of(delivery),
            "voter_id": attempts[delivery.attempt].voter_id,
            "lot": lot(attempts[delivery.attempt].secret, delivery.index),
        }
        for delivery in sorted(deliveries, key=attrgetter("index"))
    ]
    return {index for (index,) in transaction.rows(_insertion(transaction.dialect), rows=rows)}


@cache
def _insertion(dialect: str) -> Any:
    columns = [
        Result.task_index,
        Result.attempt_id,
        Result.value,
        Result.residue,
        Result.evaluated,
        Result.seconds,
        Result.provenance,
        Result.voter_id,
    ]
    lots: Any = column("lot", Float(53))
    *taken, its_lot = given(dialect, [*columns, lots]).subquery("taken").c
    # Within the same statement, see db.trust.draw.raise_share().
    share = select(Campaign.recheck_share).where(Campaign.id == CAMPAIGN).scalar_subquery()
    rows = select(*taken, CAMPAIGN, Now(), its_lot < share).where(true())
    new = insert_new(dialect, Result).from_select(
        [*columns, Result.campaign_id, Result.accepted, Result.drawn], rows
    )
    return new.returning(Result.task_index)


def row_of(delivery: Delivery) -> dict[str, Any]:
    """The columns of a delivery that the tables ``result`` and ``witness`` share."""
    evaluation = delivery.evaluation
    return {
        "task_index": delivery.index,
        "attempt_id": delivery.attempt,
        **evaluation.result.to_text(),
        "seconds": evaluation.seconds,
        "provenance": evaluation.provenance,
    }


@cache
def _timing(dialect: str) -> Update:
    attempt, began, computed = given(dialect, [Attempt.id, Attempt.began, Attempt.computed]).subquery("reported").c
    times = {"began": case((began > Now(), Now()), else_=began), "computed": computed}
    return update(Attempt).where(Attempt.id == attempt).values(**times)


@cache
def _completing(dialect: str) -> Update:
    # An attempt whose result came late has ended already.
    outcome = case((Attempt.ended.is_(None), Outcome.DONE.value), else_=Attempt.outcome)
    return _timing(dialect).values(ended=func.coalesce(Attempt.ended, Now()), outcome=outcome)


def complete(transaction: Transaction, first: Sequence[Delivery], attempts: Mapping[int, AttemptRecord]) -> None:
    """``attempts``: by id."""
    if not first:
        return
    # Not by transitions.end(), which would make the tasks ready.
    transaction.change(_completing(transaction.dialect), rows=_rows(first, attempts))
    set_state(transaction, [delivery.index for delivery in first], TaskState.DONE)


def note_times(
    transaction: Transaction, deliveries: Sequence[Delivery], attempts: Mapping[int, AttemptRecord]
) -> None:
    """When computing began, not before the grant and not after now, and how long it took."""
    transaction.connection.execute(_timing(transaction.dialect), {"rows": _rows(deliveries, attempts)})


def _rows(
    deliveries: Sequence[Delivery], attempts: Mapping[int, AttemptRecord]
) -> list[dict[str, int | float | None]]:
    rows: list[dict[str, int | float | None]] = []
    for delivery in deliveries:
        began = delivery.evaluation.began
        if began is not None:
            began = max(began, attempts[delivery.attempt].granted)
        rows.append({"id": delivery.attempt, "began": began, "computed": delivery.evaluation.seconds})
    return rows
