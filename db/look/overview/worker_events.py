"""What happened to the workers of a campaign, and when it was done.

The events that a ledger records (:class:`db.states.EventKind`) are about results.  These here are not recorded:
they follow from the rows of workers and attempts, also in ledgers of earlier versions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, select

from db.look.overview.records import ENDINGS, ID_LENGTH, Happened
from db.machines import Equipment
from db.messages import Time
from db.schema.dialects import among_texts
from db.schema.models import Attempt
from db.states import Ending, Outcome
from db.store.transaction import CAMPAIGN, Transaction
from langford.words import several

JOINED, LEFT, EXPIRED, DIED, DONE = "joined", "left", "expired", "died", "done"
MOST, MAX_ATTEMPTS = 50, 1_000
"""The maximum numbers of events, and of attempts that are read for them."""
LAST_SECONDS = 60.0
"""What a worker gives back in this time before its end, it gives back because it ends."""
_BACK = Outcome.RELEASED, Outcome.PREEMPTED
_UNFINISHED = (
    select(Attempt.worker_id, Attempt.outcome, Attempt.ended, Attempt.task_index, Attempt.note)
    .where(among_texts(Attempt.worker_id, "workers"), Attempt.campaign_id == CAMPAIGN, Attempt.ended.is_not(None))
    .where(Attempt.outcome.in_(sorted((*_BACK, Outcome.EXPIRED, Outcome.DIED))))
    .order_by(Attempt.ended.desc())
    .limit(MAX_ATTEMPTS)
)


def worker_events(
    transaction: Transaction,
    workers: Sequence[Row[Any]],
    not_done: Sequence[Row[Any]],
    finished: float | None,
    tasks: int,
) -> list[Happened]:
    """What happened, newest first, up to MOST; ``finished``: when the campaign was done, None: it is not."""
    gone = sorted((row for row in workers if row.ended is not None), key=lambda row: -row.ended)[:MOST]
    failing = {row.worker_id for row in not_done if row.outcome in (Outcome.EXPIRED, Outcome.DIED)}
    asked = {row.id for row in gone} | set(sorted(failing)[:MOST])
    unfinished: Any = transaction.execute(_UNFINISHED, workers=sorted(asked)).all() if asked else []
    named = {row.id: row for row in workers}
    happened = [
        *(Happened(Time(row.started), JOINED, f"{_name(row)}: {_equipment(row)}") for row in workers),
        *(Happened(Time(row.ended), LEFT, f"{_name(row)}: {_departure(row, unfinished)}") for row in gone),
        *_expired(unfinished, named),
        *(
            Happened(Time(row.ended), DIED, f"{_name(named[row.worker_id])}, task {row.task_index}: {row.note}")
            for row in unfinished
            if row.outcome == Outcome.DIED
        ),
        *([] if finished is None else [Happened(Time(finished), DONE, several(tasks, "task"))]),
    ]
    return sorted(happened, key=lambda each: -each.at)[:MOST]


def _expired(unfinished: Sequence[Row[Any]], named: Mapping[str, Row[Any]]) -> Iterator[Happened]:
    """Unless the worker ended with them."""
    rows = [row for row in unfinished if row.outcome == Outcome.EXPIRED]
    for (worker_id, ended), number in Counter((row.worker_id, row.ended) for row in rows).items():
        worker = named[worker_id]
        if worker.ending != Ending.LOST or not _at_its_end(worker, ended):
            yield Happened(Time(ended), EXPIRED, f"{_name(worker)}: {several(number, 'lease')}")


def _departure(worker: Row[Any], unfinished: Collection[Row[Any]]) -> str:
    """How a worker ended, and what became of the tasks that it held."""
    how, is_lost = ENDINGS.get(worker.ending, worker.ending or ""), worker.ending == Ending.LOST
    wanted = (Outcome.EXPIRED,) if is_lost else _BACK
    held = [
        row
        for row in unfinished
        if row.worker_id == worker.id and row.outcome in wanted and _at_its_end(worker, row.ended)
    ]
    if worker.ending == Ending.STOPPED and held and held[0].note:
        how = f"{how} ({held[0].note})"
    if not held:
        return how
    return (
        f"{how}; {several(len(held), 'lease')} expired"
        if is_lost
        else f"{how}, gave back {several(len(held), 'task')}"
    )


def _at_its_end(worker: Row[Any], ended: float) -> bool:
    return bool(worker.ended - LAST_SECONDS <= ended <= worker.ended)


def _name(worker: Row[Any]) -> str:
    return f"{worker.id[:ID_LENGTH]} on {worker.host}"


def _equipment(worker: Row[Any]) -> str:
    slurm = Equipment(slurm_job=worker.slurm_job, slurm_index=worker.slurm_index).slurm
    processes = several(worker.processes, "process", "processes") if worker.processes else ""
    parts = worker.device_model or worker.device_kind, processes, f"SLURM job {slurm}" if slurm else ""
    return ", ".join(filter(None, parts))
