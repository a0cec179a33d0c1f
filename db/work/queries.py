"""Read-only questions to a ledger, each one function on a connection."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from db.errors import NoSuchCampaign
from db.files.exports import ORIGIN_PREFIX, origin
from db.records import AttemptRecord, CampaignRecord, Credential, LeaseHolder
from db.states import VoterKind
from db.store.dialects import Now, among
from db.store.models import Attempt, Campaign, Ledger, Result, Task, Voter, Worker
from db.work import nonces
from langford.methods import PlanKey
from langford.problem import Problem
from langford.result import Evaluation, PartialResult

# Not the secret of the draw, which a role that only reads may not see.
_CAMPAIGNS = select(*(column for column in Campaign.__table__.columns if column.key != Campaign.secret.key))
_SECRET = select(Campaign.secret).where(Campaign.id == bindparam("campaign"))


def ledger_uuid(connection: Connection) -> str:
    """The UUID of the ledger."""
    return connection.execute(select(Ledger.uuid)).scalar_one()


def campaign(connection: Connection, name: str) -> CampaignRecord | None:
    """The campaign of that name; None when there is none."""
    row = connection.execute(_CAMPAIGNS.where(Campaign.name == name)).one_or_none()
    return None if row is None else _campaign_of(row)


def required_campaign(connection: Connection, name: str, where: str) -> CampaignRecord:
    """The campaign of that name; raises NoSuchCampaign, which names the ledger ``where``."""
    record = campaign(connection, name)
    if record is None:
        names = ", ".join(known.name for known in campaigns(connection))
        advice = f"it has {names}" if names else "it has none yet: `langford create` makes one"
        raise NoSuchCampaign(f"no campaign {name!r} in {where}; {advice}")
    return record


_STILL_THERE = select(Campaign.uuid).where(Campaign.id == bindparam("campaign"))


def require_undeleted(connection: Connection, campaign: CampaignRecord) -> None:
    """Raises NoSuchCampaign when the campaign was deleted; SQLite gives its number to the next one."""
    if connection.scalar(_STILL_THERE, {"campaign": campaign.campaign_id}) != campaign.uuid:
        raise NoSuchCampaign(
            f"the campaign {campaign.name!r} was deleted: `langford status` shows those that are left"
        )


def campaigns(connection: Connection) -> list[CampaignRecord]:
    """All campaigns, oldest first."""
    return [_campaign_of(row) for row in connection.execute(_CAMPAIGNS.order_by(Campaign.id))]


def _campaign_of(row: Row[Any]) -> CampaignRecord:
    key = PlanKey(Problem.parse(row.problem), row.method, row.depth, row.seed)
    return CampaignRecord(row.id, row.uuid, row.name, key, row.tasks, row.work, row.created, row.recheck_share)


def secret(connection: Connection, campaign_id: int) -> str:
    """The key of the draw of a campaign, for whoever draws; it is no part of a record, and no view shows it."""
    return connection.execute(_SECRET, {"campaign": campaign_id}).scalar_one()


def evaluations(connection: Connection, campaign_id: int) -> list[Evaluation]:
    """All accepted results with time and provenance, by task."""
    rows = connection.execute(
        select(Result.task_index, Result.value, Result.residue, Result.evaluated, Result.seconds, Result.provenance)
        .where(Result.campaign_id == campaign_id)
        .order_by(Result.task_index)
    )
    return [
        Evaluation(
            PartialResult.from_text(row.task_index, row.value, row.residue, row.evaluated),
            row.seconds,
            row.provenance,
        )
        for row in rows
    ]


def origins(connection: Connection, campaign_id: int) -> set[tuple[int, str]]:
    """(task, origin) of all imported results and of all accepted ones, see :func:`db.files.exports.origin`."""
    imported = connection.execute(
        select(Attempt.task_index, Attempt.note).where(
            Attempt.campaign_id == campaign_id, Attempt.note.startswith(ORIGIN_PREFIX)
        )
    )
    accepted = evaluations(connection, campaign_id)
    return {(row.task_index, row.note) for row in imported} | {
        (evaluation.result.index, origin(evaluation)) for evaluation in accepted
    }


def work(connection: Connection, campaign_id: int, tasks: Collection[int]) -> dict[int, float]:
    """Estimated work of these tasks, by task."""
    keys = Task.campaign_id == campaign_id, among(Task.task_index, "tasks")
    rows = connection.execute(select(Task.task_index, Task.work).where(*keys), {"tasks": tasks})
    return {row.task_index: row.work for row in rows}


# By the primary key alone: a database without statistics of its tables might read the whole campaign.
_ATTEMPTS = (
    select(
        Attempt.id,
        Attempt.campaign_id,
        Attempt.task_index,
        Attempt.nonce,
        Attempt.granted,
        Worker.voter_id,
        select(Campaign.recheck_share).where(Campaign.id == bindparam("campaign")).scalar_subquery().label("share"),
        Result.value,
        Result.attempt_id.label("by"),
    )
    .join(Worker, Worker.id == Attempt.worker_id)
    .outerjoin(Result, (Result.campaign_id == Attempt.campaign_id) & (Result.task_index == Attempt.task_index))
    .where(among(Attempt.id, "attempts"))
)


def attempts(connection: Connection, campaign_id: int, attempt_ids: Collection[int]) -> dict[int, AttemptRecord]:
    """These attempts by id; those of other campaigns, or of none, are left out."""
    rows = connection.execute(_ATTEMPTS, {"attempts": attempt_ids, "campaign": campaign_id}).all()
    return {
        attempt: AttemptRecord(index, nonce, granted, voter_id, share, None if by is None else (value, by))
        for attempt, of_campaign, index, nonce, granted, voter_id, share, value, by in rows
        if of_campaign == campaign_id
    }


_RECORDS = select(Voter.id, Voter.kind, Voter.valid).where(among(Voter.id, "voters"))


def voters(connection: Connection, voter_ids: Collection[int]) -> dict[int, tuple[VoterKind, int]]:
    """(kind, number of confirmed results) of these voters, by id."""
    rows = connection.execute(_RECORDS, {"voters": sorted(voter_ids)})
    return {row.id: (VoterKind(row.kind), row.valid) for row in rows}


_SHOWN = select(Attempt.id, Attempt.campaign_id, Attempt.task_index, Attempt.nonce, Attempt.worker_id).where(
    among(Attempt.id, "attempts")
)


def tasks_of(connection: Connection, campaign_id: int, credentials: Collection[Credential]) -> dict[int, int]:
    """The task of each attempt whose nonce is shown; other attempts, and those of other campaigns, are left out."""
    return {attempt: row.task_index for attempt, row in shown(connection, campaign_id, credentials).items()}


def shown(
    connection: Connection, campaign_id: int, credentials: Collection[Credential]
) -> dict[int, Row[*tuple[Any, ...]]]:
    """The attempts whose nonces are shown, with their tasks and workers, as :func:`tasks_of`."""
    rows = connection.execute(_SHOWN, {"attempts": [credential.attempt for credential in credentials]})
    attempts = {row.id: row for row in rows if row.campaign_id == campaign_id}
    return {
        credential.attempt: attempts[credential.attempt]
        for credential in credentials
        if credential.attempt in attempts
        and nonces.is_genuine(credential.nonce, attempts[credential.attempt].nonce)
    }


# By the worker alone: SQLite might read all attempts of the campaign instead.
_RUNNING = select(Attempt.id, Attempt.campaign_id).where(
    Attempt.worker_id == bindparam("worker"), Attempt.ended.is_(None)
)


def running(connection: Connection, campaign_id: int, worker_id: str) -> set[int]:
    """The running attempts of a worker at a campaign."""
    rows = connection.execute(_RUNNING, {"worker": worker_id})
    return {row.id for row in rows if row.campaign_id == campaign_id}


_IN_TIME = select(Attempt.id).where(
    Attempt.campaign_id == bindparam("campaign"), Attempt.ended.is_(None), Attempt.deadline >= Now()
)


def is_worked_at(connection: Connection, campaign_id: int) -> bool:
    """Whether an attempt at a campaign runs that is not overdue."""
    return connection.execute(_IN_TIME.limit(1), {"campaign": campaign_id}).first() is not None


def lease_holders(connection: Connection, campaign_id: int) -> list[LeaseHolder]:
    """The workers with running attempts."""
    holders = (
        select(Attempt.worker_id).distinct().where(Attempt.campaign_id == campaign_id, Attempt.ended.is_(None))
    )
    rows = connection.execute(select(Worker.id, Worker.host, Worker.process).where(Worker.id.in_(holders)))
    return [LeaseHolder(*row) for row in rows]
