"""Why a task waits, and why workers hold none: reads what :mod:`db.trust.reasons` needs to know."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Float, Integer, bindparam, func, select

from db.look import progress
from db.machines import worker_name
from db.messages import iso
from db.records import CampaignRecord
from db.schema.declaring import aliased
from db.schema.models import Attempt, Event, Result, Task, Token, Voter, Worker, same_task
from db.states import Doubt, EventKind, TaskState, VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import holding, reasons, waiting
from db.trust.reasons import Asking, Left, TaskFacts
from db.work import presence
from db.work.identities import identity
from langford.errors import BadInput

_INDEX: ColumnElement[int] = bindparam("task", type_=Integer)
_confirming = aliased(Voter)
_TASK = (
    select(
        *(Task.state, Task.work, Result.drawn, Result.doubt, Result.confirmed_by, _confirming.host),
        *(Worker.id.label("worker"), Worker.host.label("by"), Result.accepted),
    )
    .outerjoin(Result, same_task(Result, Task))
    .outerjoin(_confirming, _confirming.id == Result.confirmed_by)
    .outerjoin(Attempt, Attempt.id == Result.attempt_id)
    .outerjoin(Worker, Worker.id == Attempt.worker_id)
    .where(Task.campaign_id == CAMPAIGN, Task.task_index == _INDEX)
)
_LARGER = (
    select(func.count())
    .select_from(Task)
    .where(
        Task.campaign_id == CAMPAIGN, Task.state == TaskState.READY, Task.work > bindparam("work", type_=Float(53))
    )
)
_HELD = (
    select(Worker.id, Worker.host, Attempt.deadline)
    .join(Attempt, Attempt.worker_id == Worker.id)
    .where(Attempt.campaign_id == CAMPAIGN, Attempt.task_index == _INDEX, Attempt.ended.is_(None))
    .order_by(Attempt.id)
)
_WHY_SET_ASIDE = (
    select(Event.detail)
    .where(Event.campaign_id == CAMPAIGN, Event.kind == EventKind.SET_ASIDE, Event.task_index == _INDEX)
    .order_by(Event.id.desc())
)
_IDLE = (
    select(Worker.id, Worker.host, Voter.token, Voter.distrusted, Token.id.label("number"))
    .join(Voter, Voter.id == Worker.voter_id)
    .outerjoin(Token, Token.digest == Voter.token)
    .where(
        presence.IS_PRESENT,
        presence.AT_CAMPAIGN,
        Voter.kind == VoterKind.WORKER,
        ~select(Attempt.id).where(Attempt.worker_id == Worker.id, Attempt.ended.is_(None)).exists(),
    )
    .order_by(Worker.started, Worker.id)
)


def of_task(transaction: Transaction, campaign: CampaignRecord, index: int) -> str:
    """What a task waits for; raises BadInput when the campaign has no such task."""
    row = transaction.execute(_TASK, task=index).one_or_none()
    if row is None:
        raise BadInput(f"{campaign.name} has no task {index}: its tasks are 0 to {campaign.tasks - 1:,}")
    held = [
        f"{worker_name(each.id, each.host)} until {iso(each.deadline)}"
        for each in transaction.execute(_HELD, task=index)
    ]
    done = row.state == TaskState.DONE
    voted = waiting.voted(transaction, [index])[index] if done else set()
    present = presence.voters(transaction) if done else set()
    return reasons.why_it_waits(
        TaskFacts(
            campaign.name,
            TaskState(row.state),
            transaction.scalar(_LARGER, work=row.work),
            held,
            transaction.scalar(_WHY_SET_ASIDE.limit(1), task=index) or "",
            f"by {worker_name(row.worker, row.by)} at {iso(row.accepted)}" if done else "",
            "" if row.confirmed_by is None else row.host,
            bool(row.drawn) or (done and index in waiting.suspected(transaction)),
            None if row.doubt is None else Doubt(row.doubt),
            sorted(host for host, token in present if identity(host, token) not in voted),
        )
    )


def of_workers(transaction: Transaction, campaign: CampaignRecord) -> list[str]:
    """Why each worker that is present holds no task."""
    standing = progress.standing(transaction, campaign)
    ready = standing.tasks.get(TaskState.READY, 0)
    left = Left(
        campaign.name,
        standing.tasks.get(TaskState.LEASED, 0),
        standing.tasks.get(TaskState.SET_ASIDE, 0),
        standing.rechecks,
    )
    explained, counted = list[str](), holding.counted(transaction)
    for row in transaction.execute(_IDLE).all():
        token = row.token
        asking = Asking(
            token,
            token,
            bool(token) and row.number is None,
            row.distrusted is not None,
            row.number is not None and holding.is_fruitless(transaction, token),
            counted.room(token) if token else 1,
            ready > 0,
        )
        explained.append(f"{worker_name(row.id, row.host)}: {reasons.why_no_task(asking, left)}")
    return explained or ["no worker that is present is without tasks"]
