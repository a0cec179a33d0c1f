"""Complaints: attempts at a task that failed, or whose process died.  A task with several of them may be set aside.

A process may fail because of its machine, and a worker may lie.  So a task with FAILURES_BEFORE_SET_ASIDE
complaints is set aside when two of them are by independent voters, or when no one is left who could try it:

- While a voter with another token is present, it tries the task; among workers with one token, another host does.
- A voter loses its say when others have completed LIES tasks at which it complained: its machine is broken, or it
  lies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import bindparam, func, select, update

from db.schema.declaring import aliased
from db.schema.models import Attempt, Result, Task, Voter, Worker, same_task
from db.states import COMPLAINTS, FAILURES_BEFORE_SET_ASIDE, Outcome, TaskState
from db.store.transaction import CAMPAIGN, Transaction
from db.work import presence, transitions
from db.work.holders import NAMED
from db.work.identities import are_same, identity, is_same
from db.work.transitions import CHOSEN
from langford.words import some

LIES = 3
"""Tasks at which a voter complained, and which others completed, after which it has no say."""


def complain(transaction: Transaction, attempt: int, index: int, outcome: Outcome, note: str | None) -> bool:
    """Record that an attempt failed, or that its process died; returns whether the task was set aside.

    A task that is done stays done; if its result waits to be evaluated again, other workers do that.
    """
    if not transitions.end(transaction, CHOSEN, outcome, note, attempts=[attempt]):
        return False
    key = Task.campaign_id == CAMPAIGN, Task.task_index == index
    counter = Task.failures if outcome is Outcome.FAILED else Task.deaths
    transaction.execute(update(Task).where(*key).values({counter: counter + 1}))
    task = transaction.execute(select(Task.state, Task.failures + Task.deaths).where(*key)).one()
    if task[0] == TaskState.DONE or task[1] < FAILURES_BEFORE_SET_ASIDE:
        return False
    return _judge(transaction, index)


_TROUBLED = select(Task.task_index).where(
    Task.campaign_id == CAMPAIGN,
    Task.state == TaskState.READY,
    Task.failures + Task.deaths >= FAILURES_BEFORE_SET_ASIDE,
)


def judge_again(transaction: Transaction) -> None:
    """Set aside ready tasks that waited for another voter, if none is left."""
    for index in transaction.scalars(_TROUBLED).all():
        _judge(transaction, index)


_WHO = Worker.id.label("worker"), Voter.host, Voter.token
_COMPLAINING = (
    select(Attempt.id, Attempt.note, *_WHO)
    .join(Task, same_task(Task, Attempt))
    .join(Worker, Worker.id == Attempt.worker_id)
    .join(Voter, Voter.id == Worker.voter_id)
    .where(Attempt.campaign_id == CAMPAIGN, Attempt.outcome.in_(COMPLAINTS), Attempt.id > Task.retried)
)
_COMPLAINTS = _COMPLAINING.where(Attempt.task_index == bindparam("task")).order_by(Attempt.id)


def _judge(transaction: Transaction, index: int) -> bool:
    """Set aside a task with enough complaints, by the rules of this module; returns whether it was."""
    rows = transaction.execute(_COMPLAINTS, task=index).all()
    voters = {(row.host, row.token) for row in rows}
    if not _agree(transaction, voters) and _others(presence.voters(transaction), voters):
        return False
    last = rows[-1]
    reason = (
        f"{len(rows)} attempts failed or ended their process, by {_named(transaction, rows)} (last: {last.note})"
    )
    transitions.set_aside(transaction, index, last.id, reason)
    return True


def _agree(transaction: Transaction, voters: Collection[tuple[str, str]]) -> bool:
    """Whether two independent voters with a say are among these."""
    by_identity = {identity(*voter): voter for voter in sorted(voters)}
    if len(by_identity) < 2:
        return False
    return sum(_has_say(transaction, *voter) for voter in by_identity.values()) >= 2


def _others(present: Collection[tuple[str, str]], voters: Collection[tuple[str, str]]) -> bool:
    """Whether one of the present voters could try a task at which only these have failed."""
    who, hosts = {identity(*voter) for voter in voters}, {host for host, _ in voters}
    return any(identity(*each) not in who or (len(hosts) == 1 and each[0] not in hosts) for each in present)


_its_worker, _it, _other = aliased(Worker), aliased(Voter), aliased(Voter)
_REFUTED = (
    select(func.count(Attempt.task_index.distinct()))
    .join(_its_worker, _its_worker.id == Attempt.worker_id)
    .join(_it, _it.id == _its_worker.voter_id)
    .join(Result, same_task(Result, Attempt))
    .join(_other, _other.id == Result.voter_id)
    .where(
        Attempt.campaign_id == CAMPAIGN,
        Attempt.outcome.in_(COMPLAINTS),
        is_same(_it),
        ~are_same(_it, _other),
    )
)


def _has_say(transaction: Transaction, host: str, token: str) -> bool:
    """Whether the complaints of a voter, and of whoever is the same, count."""
    return (transaction.scalar(_REFUTED, host=host, token=token) or 0) < LIES


def _named(transaction: Transaction, rows: Iterable[Any]) -> str:
    known = presence.Names(transaction)
    return some(list(dict.fromkeys(known.name(row.worker, row.host, row.token) for row in rows)), NAMED)


_OF_SET_ASIDE = (
    _COMPLAINING.where(Task.state == TaskState.SET_ASIDE)
    .with_only_columns(*_WHO, func.count(Attempt.task_index.distinct()).label("tasks"))
    .group_by(*_WHO)
    .order_by(func.count(Attempt.task_index.distinct()).desc(), Worker.id)
)


def in_words(transaction: Transaction) -> str:
    """At whose complaints tasks are set aside, in words that follow "set aside"; "" if nobody complained."""
    named = _named(transaction, transaction.execute(_OF_SET_ASIDE))
    return f", because attempts failed by {named}" if named else ""
