"""When and on which machines results were computed: read for exports, and recorded from imports."""

from __future__ import annotations

import uuid
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import inf
from typing import Any

from sqlalchemy import Update, func, insert, select, update

from db.files.writing import Contents, Evaluated
from db.machines import MACHINE, Machine
from db.records import Computation
from db.schema.dialects import Now, among, given
from db.schema.models import Attempt, Result, Voter, Worker
from db.states import Ending, VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from langford.result import Evaluation, PartialResult

IMPORTED = "imported"
"""Name of the process of workers that are known from an export."""
_IS_KNOWN = (Voter.kind == VoterKind.WORKER) | (Worker.process == IMPORTED)
"""Results that were imported without times, or decided by the operator, have no computation.

Nor have those of a clock before 1970: no reader of exports accepts such times.
"""
BATCH_ROWS = 5_000
_RESULTS = (
    select(
        Result.task_index,
        Result.value,
        Result.residue,
        Result.evaluated,
        Result.seconds,
        Result.provenance,
        _IS_KNOWN.label("is_known"),
        Attempt.granted,
        Attempt.began,
        Attempt.ended,
        Worker.id,
        *(getattr(Worker, name) for name in MACHINE),
    )
    .outerjoin(Attempt, Attempt.id == Result.attempt_id)
    .outerjoin(Worker, Worker.id == Attempt.worker_id)
    .outerjoin(Voter, Voter.id == Worker.voter_id)
    .where(Result.campaign_id == CAMPAIGN)
    .order_by(Result.task_index)
    .execution_options(yield_per=BATCH_ROWS)
)


# What a first reading of all results would find, for a fifth of its time.
_IN_FILE = Result.campaign_id == CAMPAIGN, ~among(Result.task_index, "omitted")
_NUMBER = select(func.count()).select_from(Result).where(*_IN_FILE)
_SOURCES = select(Result.provenance).where(*_IN_FILE).distinct()
_MACHINES = (
    select(*(getattr(Worker, name) for name in MACHINE))
    .select_from(Result)
    .join(Attempt, Attempt.id == Result.attempt_id)
    .join(Worker, Worker.id == Attempt.worker_id)
    .outerjoin(Voter, Voter.id == Worker.voter_id)
    .where(*_IN_FILE, _IS_KNOWN, Attempt.ended >= 0, Attempt.granted >= 0)
    .group_by(Worker.id)
    .order_by(func.min(Result.task_index))
)


def contents(transaction: Transaction, omitted: Collection[int]) -> Contents:
    """Of a file with the results of a campaign; ``omitted``: the tasks whose results are not in it."""
    without = sorted(omitted)
    machines = [Machine(*row) for row in transaction.execute(_MACHINES, omitted=without)]
    sources = transaction.scalars(_SOURCES, omitted=without).all()
    return Contents(transaction.scalar(_NUMBER, omitted=without), sources, machines)


@cache
def _keeping(dialect: str) -> Update:
    columns = [Attempt.id, Attempt.worker_id, Attempt.granted, Attempt.began, Attempt.ended]
    attempt, worker, granted, began, ended = given(dialect, columns).subquery("known").c
    values = {"worker_id": worker, "granted": granted, "began": began, "ended": ended}
    return update(Attempt).where(Attempt.id == attempt).values(**values)


def of_results(transaction: Transaction) -> Iterator[Evaluated]:
    """By task, each with its computation, read as they are iterated."""
    known: dict[str, tuple[int, Machine]] = {}
    rows: Iterable[Sequence[Any]] = transaction.execute(_RESULTS)
    for row in rows:
        index, value, residue, evaluated, seconds, provenance, is_known, *when, worker_id = row[:11]
        evaluation = Evaluation(PartialResult.from_text(index, value, residue, evaluated), seconds, provenance)
        computation = None
        if is_known:
            if worker_id not in known:
                known[worker_id] = len(known), Machine(*row[11:])
            computation = _computation(*known[worker_id], *when)
        yield evaluation, computation


def _computation(
    worker: int, machine: Machine, granted: float, began: float | None, ended: float | None
) -> Computation | None:
    if ended is None or min(granted, ended) < 0:
        return None  # _MACHINES has the same condition
    # The clock may have been set back, and a late result may have begun after the end of its lease.
    granted = min(granted, ended)
    began = None if began is None else min(max(granted, began), ended)
    return Computation(worker, machine, granted, began, ended)


def keep(
    transaction: Transaction,
    worker_id: str,
    attempts: Sequence[int],
    tasks: Sequence[int],
    computations: Mapping[int, Computation],
) -> None:
    """Record the workers and times of imported attempts, as stated in their file.

    Args:
        worker_id: the worker of the import, whose voter is responsible for all.
        attempts: those that were imported.
        tasks: the task of each.
        computations: by task, as the file states them.
    """
    now = transaction.connection.execute(select(Now())).scalar_one()
    # Not those by a clock that was ahead of that of this ledger.
    dated = array(
        "q", (at for at, index in enumerate(tasks) if index in computations and computations[index].ended <= now)
    )
    workers: dict[int, _Imported] = {}
    for at in dated:
        computation = computations[tasks[at]]
        if computation.worker not in workers:
            workers[computation.worker] = _Imported(str(uuid.uuid4()), computation.machine)
        workers[computation.worker].saw(computation)
    if not dated:
        return
    voter_id = transaction.connection.execute(select(Worker.voter_id).where(Worker.id == worker_id)).scalar_one()
    rows = [{**each.row, "voter_id": voter_id} for each in workers.values()]
    transaction.connection.execute(insert(Worker), rows)
    for start in range(0, len(dated), BATCH_ROWS):
        batch = []
        for at in dated[start : start + BATCH_ROWS]:
            computation = computations[tasks[at]]
            times = {"granted": computation.granted, "began": computation.began, "ended": computation.ended}
            batch.append({"id": attempts[at], "worker_id": workers[computation.worker].worker_id, **times})
        transaction.connection.execute(_keeping(transaction.dialect), {"rows": batch})


@dataclass
class _Imported:
    """A worker that is known from an export, with the times of its computations."""

    worker_id: str
    machine: Machine
    first: float = inf
    last: float = -inf

    def saw(self, computation: Computation) -> None:
        self.first, self.last = min(self.first, computation.granted), max(self.last, computation.ended)

    @property
    def row(self) -> dict[str, object]:
        return {
            **asdict(self.machine),
            "id": self.worker_id,
            "process": IMPORTED,
            "started": self.first,
            "last_seen": self.last,
            "ended": self.last,
            "ending": Ending.FINISHED,
        }
