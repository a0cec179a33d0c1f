"""Queries of campaigns, attempts and leases; each function reads within a transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, String, bindparam, case, func, select

from db.attempts import Credential
from db.errors import LedgerUnusable, NoSuchCampaign
from db.files.exports import ORIGIN_PREFIX, origin
from db.records import CampaignRecord, LeaseHolder
from db.schema.declaring import aliased
from db.schema.dialects import InOneText, Now, among
from db.schema.models import Attempt, Campaign, Result, Task, Voter, Worker, same_task
from db.store.addresses import without_password
from db.store.transaction import CAMPAIGN, Transaction
from db.work import presence
from langford.errors import BadProblem
from langford.methods import PlanKey
from langford.problem import Problem
from langford.result import Evaluation, PartialResult
from langford.words import some

NAMED = 4
"""How many workers are named."""
# Without the secret of the draw, which a role that only reads may not see.
_CAMPAIGNS = select(*(column for column in Campaign.__table__.columns if column.key != Campaign.secret.key))


def campaign(connection: Connection, name: str) -> CampaignRecord | None:
    """None: there is none."""
    row = connection.execute(_CAMPAIGNS.where(Campaign.name == name)).one_or_none()
    return None if row is None else _campaign_of(row)


def required_campaign(connection: Connection, name: str, where: str) -> CampaignRecord:
    """Raises NoSuchCampaign; ``where``: the ledger's name in the message."""
    record = campaign(connection, name)
    if record is None:
        names = ", ".join(known.name for known in campaigns(connection))
        advice = f"it has {names}" if names else "it has none yet: `langford create` makes one"
        raise NoSuchCampaign(f"no campaign {without_password(name)!r} in {where}; {advice}")
    return record


def present(connection: Connection, campaign: CampaignRecord) -> CampaignRecord:
    """A campaign as it is now; raises NoSuchCampaign when it was deleted."""
    row = connection.execute(_CAMPAIGNS.where(Campaign.uuid == campaign.uuid)).one_or_none()
    if row is None:
        raise deleted(campaign)
    return _campaign_of(row)


_STILL_THERE = select(Campaign.uuid).where(Campaign.id == CAMPAIGN)


def require_undeleted(connection: Connection, campaign: CampaignRecord) -> None:
    """Raises NoSuchCampaign when the campaign was deleted; SQLite reuses its number for the next one."""
    if connection.scalar(_STILL_THERE, {"campaign": campaign.campaign_id}) != campaign.uuid:
        raise deleted(campaign)


def deleted(campaign: CampaignRecord) -> NoSuchCampaign:
    return NoSuchCampaign(
        f"the campaign {campaign.name!r} was deleted: `langford status` shows those that are left"
    )


def campaigns(connection: Connection) -> list[CampaignRecord]:
    """Oldest first."""
    return [_campaign_of(row) for row in connection.execute(_CAMPAIGNS.order_by(Campaign.id))]


def _campaign_of(row: Row[Any]) -> CampaignRecord:
    """Raises LedgerUnusable for a problem that only a later version knows."""
    try:
        problem = Problem.parse(row.problem)
    except BadProblem as error:
        raise LedgerUnusable(
            f"this version cannot read the campaign {row.name} ({error}): use the version that created it"
        ) from error
    key = PlanKey(problem, row.method, row.depth, row.seed)
    return CampaignRecord(row.id, row.uuid, row.name, key, row.tasks, row.work, row.created, row.recheck_share)


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


def work(transaction: Transaction, tasks: Collection[int]) -> dict[int, float]:
    keys = Task.campaign_id == CAMPAIGN, among(Task.task_index, "tasks")
    rows = transaction.execute(select(Task.task_index, Task.work).where(*keys), tasks=tasks)
    return {row.task_index: row.work for row in rows}


_SHOWN = select(
    Attempt.id,
    Attempt.campaign_id,
    Attempt.task_index,
    Attempt.nonce,
    Attempt.worker_id,
    Attempt.steps,
    (Now() - Attempt.granted).label("age"),
).where(among(Attempt.id, "attempts"))


def tasks_of(
    transaction: Transaction, campaign: CampaignRecord, credentials: Collection[Credential]
) -> dict[int, int]:
    """The task of each attempt whose nonce is shown; other attempts, and those of other campaigns, are omitted."""
    return {attempt: row.task_index for attempt, row in shown(transaction, campaign, credentials).items()}


def shown(
    transaction: Transaction, campaign: CampaignRecord, credentials: Collection[Credential]
) -> dict[int, Row[*tuple[Any, ...]]]:
    """The rows (id, task, worker, steps, age) of attempts whose nonces are shown, as in :func:`tasks_of`.

    Raises NoSuchCampaign when the campaign was deleted; a nonce proves that it was not.
    """
    rows = transaction.connection.execute(_SHOWN, {"attempts": [credential.attempt for credential in credentials]})
    attempts = {row.id: row for row in rows if row.campaign_id == transaction.campaign_id}
    genuine = {
        credential.attempt: attempts[credential.attempt]
        for credential in credentials
        if credential.attempt in attempts and credential.is_genuine(attempts[credential.attempt].nonce)
    }
    if not genuine:
        require_undeleted(transaction.connection, campaign)
    return genuine


_earlier, _its_worker, _its_voter = aliased(Attempt), aliased(Worker), aliased(Voter)


def held_since(voter: type[Voter]) -> ColumnElement[float]:
    """When the token of an attempt first got its task; ``voter``: that of the attempt.

    A worker that returns a task and leases it again counts as having held it since the first lease.
    """
    first = (
        select(func.min(_earlier.granted))
        .join(_its_worker, _its_worker.id == _earlier.worker_id)
        .join(_its_voter, _its_voter.id == _its_worker.voter_id)
        .where(same_task(_earlier, Attempt), _its_voter.token == voter.token)
        .correlate(Attempt, voter)
        .scalar_subquery()
    )
    return case((voter.token == "", Attempt.granted), else_=first)


# By the worker alone: otherwise SQLite might read all attempts of the campaign.
RUNNING: ColumnElement[str | None] = (
    select(InOneText(Attempt.id))
    .where(
        Attempt.worker_id == bindparam("worker", type_=String),
        Attempt.ended.is_(None),
        Attempt.campaign_id + 0 == CAMPAIGN,
    )
    .scalar_subquery()
)
"""The attempts of a worker that run, as text; None: there are none."""


_IN_TIME = (
    select(Voter.token)
    .join(Worker, Worker.voter_id == Voter.id)
    .join(Attempt, Attempt.worker_id == Worker.id)
    .where(Attempt.campaign_id == CAMPAIGN, Attempt.ended.is_(None), Attempt.deadline >= Now())
    .where((Voter.token == "") | (Worker.last_seen > Now() - presence.RESTING_SECONDS))
    .distinct()
)


def tokens_in_time(transaction: Transaction) -> set[str]:
    """The digests of the tokens whose workers make requests and hold leases that are not overdue.

    "": workers that open the ledger themselves hold such leases, whether or not they were seen.
    """
    return set(transaction.scalars(_IN_TIME))


def lease_holders(transaction: Transaction, name: str | None = None) -> list[LeaseHolder]:
    """``name``: of the worker that is meant, see :func:`db.work.presence.called`; None: all."""
    holders = select(Attempt.worker_id).distinct().where(Attempt.campaign_id == CAMPAIGN, Attempt.ended.is_(None))
    meant = [] if name is None else [presence.called(name)]
    rows = transaction.execute(select(Worker.id, Worker.host, Worker.process).where(Worker.id.in_(holders), *meant))
    return [LeaseHolder(*row) for row in rows]


_HELD = (
    select(Worker.id, Worker.host, Voter.token, func.count(Attempt.id).label("leases"))
    .join(Attempt, Attempt.worker_id == Worker.id)
    .join(Voter, Voter.id == Worker.voter_id)
    .where(Attempt.campaign_id == CAMPAIGN, Attempt.ended.is_(None))
    .group_by(Worker.id, Worker.host, Voter.token)
    .order_by(func.count(Attempt.id).desc(), Worker.id)
)


def holders_in_words(transaction: Transaction, token: str | None = None) -> str:
    """Who holds leases, and how many, those with most first; "" if nobody does.

    ``token``: only workers with this token (its digest).
    """
    names = presence.Names(transaction)
    rows = [row for row in transaction.execute(_HELD) if token in (None, row.token)]
    return some([f"{row.leases:,} by {names.name(row.id, row.host, row.token)}" for row in rows], NAMED, "worker")
