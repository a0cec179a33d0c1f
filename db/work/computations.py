"""When and on which machines results were computed: read for exports, and recorded from imports."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict
from sqlalchemy import bindparam, insert, select, update

from db.files.writing import Evaluated
from db.machines import Machine
from db.records import Computation
from db.schema.dialects import Now
from db.schema.models import Attempt, Result, Voter, Worker
from db.states import Ending, VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from langford.result import Evaluation, PartialResult

IMPORTED = "imported"
"""Name of the process of workers that are known from an export."""
_IMPORTED = Worker.process == IMPORTED
BATCH_ROWS = 5_000
_RESULTS = (
    select(
        Result.task_index,
        Result.value,
        Result.residue,
        Result.evaluated,
        Result.seconds,
        Result.provenance,
        # Results that were imported without times, or decided by the operator, have no computation.
        ((Voter.kind == VoterKind.WORKER) | _IMPORTED).label("is_known"),
        Attempt.granted,
        Attempt.began,
        Attempt.ended,
        Worker.id,
        *(getattr(Worker, name) for name in Machine.__struct_fields__),
    )
    .outerjoin(Attempt, Attempt.id == Result.attempt_id)
    .outerjoin(Worker, Worker.id == Attempt.worker_id)
    .outerjoin(Voter, Voter.id == Worker.voter_id)
    .where(Result.campaign_id == CAMPAIGN)
    .order_by(Result.task_index)
    .execution_options(yield_per=BATCH_ROWS)
)
_KEEP = (
    update(Attempt)
    .where(Attempt.id == bindparam("attempt"))
    .values(
        worker_id=bindparam("worker"), granted=bindparam("grant"), began=bindparam("begin"), ended=bindparam("end")
    )
)


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
    if ended is None:
        return None
    # The clock may have been set back, and a late result may have begun after the end of its lease.
    granted = min(granted, ended)
    began = None if began is None else min(max(granted, began), ended)
    return Computation(worker, machine, granted, began, ended)


def keep(
    transaction: Transaction,
    worker_id: str,
    attempts: Sequence[tuple[int, int]],
    computations: Mapping[int, Computation],
) -> None:
    """Record the workers and times of imported attempts, as stated in their file.

    ``worker_id``: the worker of the import, whose voter is responsible for all; ``attempts``: (attempt, task).
    """
    now = transaction.connection.execute(select(Now())).scalar_one()
    rows: list[dict[str, object]] = []
    workers: dict[int, tuple[str, Machine]] = {}
    times: dict[int, list[float]] = {}
    for attempt, index in attempts:
        computation = computations.get(index)
        if computation is None or computation.ended > now:
            continue  # unknown, or by a clock that was ahead of that of this ledger
        imported, _ = workers.setdefault(computation.worker, (str(uuid.uuid4()), computation.machine))
        times.setdefault(computation.worker, []).extend((computation.granted, computation.ended))
        rows.append(
            {
                "attempt": attempt,
                "worker": imported,
                "grant": computation.granted,
                "begin": computation.began,
                "end": computation.ended,
            }
        )
    if rows:
        voter_id = transaction.connection.execute(
            select(Worker.voter_id).where(Worker.id == worker_id)
        ).scalar_one()
        transaction.connection.execute(
            insert(Worker),
            [_row(machine, imported, voter_id, times[worker]) for worker, (imported, machine) in workers.items()],
        )
        transaction.connection.execute(_KEEP, rows)


def _row(machine: Machine, worker_id: str, voter_id: int | None, times: Sequence[float]) -> dict[str, object]:
    return {
        **asdict(machine),
        "id": worker_id,
        "process": IMPORTED,
        "voter_id": voter_id,
        "started": min(times),
        "last_seen": max(times),
        "ended": max(times),
        "ending": Ending.FINISHED,
    }
