"""Results that wait to be evaluated again: each query derives them from the results and their voters.

A result waits if it is in doubt, or if it is drawn and no trusted, independent voter has confirmed it.  Results of
whoever was found wrong count as drawn.  No table lists these results, so none can be missing from it.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, Integer, Select, bindparam, func, or_, select, union

from db.errors import ConflictingResults, Unreplicated, UntrustedResults
from db.files.promise import Promise, digest
from db.records import CampaignRecord, Replication
from db.schema.declaring import aliased
from db.schema.dialects import MayReadSecret, among
from db.schema.models import (
    Attempt,
    Campaign,
    Event,
    Result,
    Task,
    Voter,
    Witness,
    Worker,
    same_task,
)
from db.states import Doubt, EventKind, TaskState, VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from db.work.identities import are_same, identity
from langford.words import several

_OF_CAMPAIGN = select(Result.campaign_id, Result.task_index).where(Result.campaign_id == CAMPAIGN)
_OF_THIS_CAMPAIGN = select(Result.campaign_id, Result.task_index).where(Result.campaign_id + 0 == CAMPAIGN)
"""The same, without the index of the campaign, by which SQLite would read all of its results."""
_UNCONFIRMED: ColumnElement[bool] = Result.confirmed_by.is_(None)
_DISTRUSTED = select(Voter.id).where(Voter.distrusted.is_not(None))
_wrong = aliased(Voter)
_SUSPECTED = select(Voter.id).join(_wrong, are_same(Voter, _wrong)).where(_wrong.distrusted.is_not(None))
_MUST_BE_CONFIRMED = _OF_CAMPAIGN.where(Result.drawn, _UNCONFIRMED)
DRAWN: Select[int, int] = _MUST_BE_CONFIRMED.where(Result.doubt.is_(None))
DOUBTED: Select[int, int] = _OF_CAMPAIGN.where(
    Result.doubt.is_not(None), Result.doubt.in_([Doubt.CONFLICT, Doubt.QUESTION])
)
"""Results in doubt, except those that only the operator can decide."""
SUSPECT: Select[int, int] = _OF_THIS_CAMPAIGN.where(
    Result.voter_id.in_(_SUSPECTED), _UNCONFIRMED, Result.doubt.is_(None)
)
"""Results that count as drawn, since another one of whom they come from was found wrong."""
_UNTRUSTED = _OF_THIS_CAMPAIGN.where(Result.voter_id.in_(_DISTRUSTED), _UNCONFIRMED)
_WAITING = union(DRAWN, DOUBTED, SUSPECT)
MAY_WAIT = or_(DRAWN.exists(), DOUBTED.exists(), _DISTRUSTED.exists())
"""False: no result of the campaign waits."""


def tasks(transaction: Transaction) -> list[int]:
    """By index."""
    return sorted(row.task_index for row in transaction.execute(_WAITING))


def _voted(table: type[Result] | type[Witness]) -> Select[int, str, str]:
    return (
        select(table.task_index, Voter.host, Voter.token)
        .join(Attempt, Attempt.id == table.attempt_id)
        .join(Worker, Worker.id == Attempt.worker_id)
        .join(Voter, Voter.id == Worker.voter_id)
        .where(
            table.campaign_id == CAMPAIGN,
            among(table.task_index, "tasks"),
            Attempt.questioned.is_(None),
            Voter.kind == VoterKind.WORKER,
            Voter.distrusted.is_(None),
        )
    )


_VOTED = union(_voted(Result), _voted(Witness))


def voted(transaction: Transaction, tasks: Collection[int]) -> dict[int, set[str]]:
    """The identities whose votes on each of some tasks count."""
    found: dict[int, set[str]] = {task: set() for task in tasks}
    for row in transaction.execute(_VOTED, tasks=tasks):
        found[row.task_index].add(identity(row.host, row.token))
    return found


_RECHECKED_NOW = (
    select(func.count(Attempt.task_index.distinct()))
    .join_from(Attempt, Task, same_task(Task, Attempt))
    # Use the index on deadlines; with the one on campaigns SQLite reads every attempt.
    .where(
        Attempt.campaign_id + 0 == CAMPAIGN,
        Attempt.ended.is_(None),
        Attempt.deadline > 0,
        Task.state == TaskState.DONE,
    )
)


def suspected(transaction: Transaction) -> set[int]:
    """The tasks whose results count as drawn, since another one of whom they come from was found wrong."""
    return {row.task_index for row in transaction.execute(SUSPECT)}


_NUMBER = select(func.count()).select_from(_WAITING.subquery())


def numbers(transaction: Transaction) -> tuple[int, int]:
    """(number of results that wait, number of them that are being evaluated now)."""
    waiting = transaction.scalar(_NUMBER) or 0
    running = transaction.scalar(_RECHECKED_NOW) if waiting else 0
    return waiting, min(waiting, running or 0)


# Not ordered: for that SQLite would read all results of the campaign.
_IN_DOUBT = select(Result.task_index).where(
    Result.campaign_id == CAMPAIGN, Result.doubt.is_not(None), Result.doubt.in_(bindparam("doubts", expanding=True))
)


def in_conflict(transaction: Transaction, doubts: Collection[Doubt] = (Doubt.CONFLICT, Doubt.TIE)) -> list[int]:
    """The tasks whose results disagree and are not settled, by index."""
    return sorted(transaction.scalars(_IN_DOUBT, doubts=doubts))


def undecided(transaction: Transaction) -> list[int]:
    """The tasks whose results wait or disagree, by index: another worker or the operator decides them."""
    return sorted({*tasks(transaction), *in_conflict(transaction)})


def _values_in_conflict(transaction: Transaction, index: int) -> str:
    detail = (
        select(Event.detail)
        .where(Event.campaign_id == CAMPAIGN, Event.task_index == index, Event.kind == EventKind.CONFLICT)
        .order_by(Event.id.desc())
    )
    return transaction.scalar(detail.limit(1)) or "its results disagree"


def untrusted(transaction: Transaction) -> list[int]:
    """The tasks whose results come from distrusted voters or were put in question, by index."""
    rows = transaction.execute(_UNTRUSTED)
    questioned = in_conflict(transaction, [Doubt.QUESTION])
    return sorted({row.task_index for row in rows} | set(questioned))


_MISSING = union(_MUST_BE_CONFIRMED, SUSPECT)
_REPLICATION = select(
    select(func.count()).select_from(_MISSING.subquery()).scalar_subquery().label("missing"),
    select(func.count())
    .select_from(Result)
    .where(Result.campaign_id == CAMPAIGN, Result.drawn, Result.confirmed_by.is_not(None))
    .scalar_subquery()
    .label("replicated"),
)


def replication(transaction: Transaction) -> Replication:
    found = transaction.execute(_REPLICATION).one()
    return Replication(found.missing + found.replicated, found.replicated)


_IS_COMPLETE = select(func.count() == bindparam("tasks", type_=Integer)).where(Result.campaign_id == CAMPAIGN)
_IMPORTED = _OF_THIS_CAMPAIGN.where(Result.voter_id.in_(select(Voter.id).where(Voter.kind == VoterKind.IMPORT)))
_SHARE = select(Campaign.recheck_share).where(Campaign.id == CAMPAIGN)
_MAY_READ_SECRET = select(MayReadSecret())
_SECRET = select(Campaign.secret).where(Campaign.id == CAMPAIGN)
_HAS_DRAWN = select(Result.task_index).where(Result.campaign_id == CAMPAIGN, Result.drawn)
_CONFIRMED = (
    select(Result.task_index, Result.voter_id, Result.confirmed_by, Voter.kind)
    .join(Voter, Voter.id == Result.confirmed_by)
    .where(Result.campaign_id == CAMPAIGN, Result.confirmed_by.is_not(None), Voter.distrusted.is_(None))
    .order_by(Result.task_index)
)


def promise(transaction: Transaction, campaign: CampaignRecord) -> Promise | None:
    """The promise that an export of a campaign states; with the secret of the draw, once nothing is left to do.

    A role of Postgres that may not read the secret states what is drawn, without the draw.
    None for a campaign without a share into which files were imported: this ledger does not know what was promised
    in the ledgers of their origin.
    """
    share = transaction.execute(_SHARE).one().recheck_share
    if not share and transaction.execute(_IMPORTED.limit(1)).first() is not None:
        return None
    confirmed: dict[int, tuple[int, int] | None] = {}
    for index, voter, by, kind in transaction.execute(_CONFIRMED):
        if kind == VoterKind.OPERATOR:
            confirmed[index] = None
        elif by is not None and voter not in (None, by):
            confirmed[index] = voter, by
    if not share:
        return Promise(share, confirmed=confirmed).renumbered()
    drawn = {*transaction.scalars(_HAS_DRAWN), *suspected(transaction)}
    if not transaction.scalar(_MAY_READ_SECRET):
        return Promise(share, frozenset(drawn), confirmed).renumbered()
    secret = transaction.execute(_SECRET).one().secret
    is_over = transaction.scalar(_IS_COMPLETE, tasks=campaign.tasks) and not undecided(transaction)
    published = secret if is_over else ""
    return Promise(share, frozenset(drawn), confirmed, digest(secret), published).renumbered()


def require_trust(transaction: Transaction, campaign: CampaignRecord, unconfirmed: bool = False) -> None:
    """Raises ConflictingResults, UntrustedResults or Unreplicated, whose message names what the merge waits for."""
    name = campaign.name
    decide = f"decide here: `langford verify {name} --waiting`"
    conflicts = in_conflict(transaction)
    if conflicts:
        values = _values_in_conflict(transaction, conflicts[0])
        ties = in_conflict(transaction, [Doubt.TIE])
        raise ConflictingResults(
            f"{several(len(conflicts), f'task of {name} has', f'tasks of {name} have')} conflicting results "
            f"(first: task {conflicts[0]}, {values}): "
            + (f"{len(ties)} are a tie, which more workers will not end; " if ties else "")
            + f"run another worker, on another machine: {_another_worker(campaign)}, or {decide}"
        )
    distrusted = untrusted(transaction)
    if distrusted:
        raise UntrustedResults(
            f"{several(len(distrusted), f'result of {name} is', f'results of {name} are')} in question, or from "
            f"workers that others found wrong (first: task {distrusted[0]}): run another worker, which evaluates "
            f"them again: {_another_worker(campaign)}, or {decide}"
        )
    kept = replication(transaction)
    missing = kept.drawn - kept.replicated
    if missing and not unconfirmed:
        raise Unreplicated(
            f"{name} has {kept.words}: {missing:,} wait for a worker with another token (`langford token "
            f"{name}`), or without one on another machine: {_another_worker(campaign)}, or {decide}, or print the "
            f"count as it is: `langford result {name} --unconfirmed`"
        )


def _another_worker(campaign: CampaignRecord) -> str:
    return f"`langford run {' '.join(campaign.key.arguments)} --name {campaign.name}` on this ledger"
