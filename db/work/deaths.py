"""Tasks whose evaluation kills its process: they are set aside after several deaths, on two hosts if there are two.

A process may die for reasons of its machine, but a task on which processes die repeatedly would end one worker
after another.  A host on which a process died gets the same task again only when no other task is left.
"""

from __future__ import annotations

from sqlalchemy import bindparam, func, select, update

from db.schema.dialects import Now
from db.schema.models import Attempt, Task, Worker
from db.states import DEATHS_BEFORE_SET_ASIDE, Outcome, TaskState
from db.store.transaction import CAMPAIGN, Transaction
from db.work import transitions
from db.work.transitions import CHOSEN

PRESENCE_SECONDS = 600.0
"""How long a host counts as present after the end of its last attempt."""


def die(transaction: Transaction, attempt: int, index: int, reason: str) -> bool:
    """Record that the process that evaluated a task died; returns whether the task was set aside.

    A task that is done stays done.
    """
    if not transitions.end(transaction, CHOSEN, Outcome.DIED, reason, attempts=[attempt]):
        return False
    key = Task.campaign_id == CAMPAIGN, Task.task_index == index
    transaction.execute(update(Task).where(*key).values(deaths=Task.deaths + 1))
    task = transaction.execute(select(Task.state, Task.deaths).where(*key)).one()
    if task.state == TaskState.DONE or task.deaths < DEATHS_BEFORE_SET_ASIDE:
        return False
    return _judge(transaction, index, task.deaths)


_DEADLY = select(Task.task_index, Task.deaths).where(
    Task.campaign_id == CAMPAIGN, Task.state == TaskState.READY, Task.deaths >= DEATHS_BEFORE_SET_ASIDE
)
_DEATHS = (
    select(Worker.host, func.max(Attempt.id).label("last"))
    .join(Attempt, Attempt.worker_id == Worker.id)
    .where(
        Attempt.campaign_id == CAMPAIGN, Attempt.task_index == bindparam("task"), Attempt.outcome == Outcome.DIED
    )
    .group_by(Worker.host)
)
_PRESENT = (
    select(Worker.host)
    .join(Attempt, Attempt.worker_id == Worker.id)
    .where(
        Attempt.campaign_id == CAMPAIGN,
        Attempt.ended.is_(None) | (Attempt.ended > Now() - PRESENCE_SECONDS),
    )
    .distinct()
)


def set_aside(transaction: Transaction) -> None:
    """Set aside ready tasks that waited for another host, if no other host is left."""
    for index, deaths in transaction.execute(_DEADLY).all():
        _judge(transaction, index, deaths)


def _judge(transaction: Transaction, index: int, deaths: int) -> bool:
    """Set aside a task on which enough processes have died; returns whether it was.

    While other hosts work on the campaign, at least one of the deaths must have happened on another host.
    """
    rows = transaction.execute(_DEATHS, task=index).all()
    hosts = {row.host for row in rows}
    if len(hosts) < 2 and set(transaction.scalars(_PRESENT)) - hosts:
        return False
    last = max(row.last for row in rows)
    note = transaction.connection.scalar(select(Attempt.note).where(Attempt.id == last))
    reason = f"{deaths} worker processes died on it, on {', '.join(sorted(hosts))} (last: {note})"
    transitions.set_aside(transaction, index, last, reason)
    return True
