"""How far results are checked by further ones, and which of them nobody here may check."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, Select, and_, func, select, union

from db import waiting
from db.dialects import among
from db.models import Attempt, Event, Result, Voter, Witness, Worker
from db.overview.records import Checked
from db.records import CampaignRecord
from db.states import EventKind, VoterKind
from db.transitions import CAMPAIGN
from db.waiting import SHARE

SAMPLE = 200
"""Of the rechecks: whether somebody may make these."""

_DRAWN = select(func.count()).where(Result.campaign_id == CAMPAIGN, Result.listed, Result.lot < SHARE)
# Without a share only contested results are drawn, and each of them has a witness.
_CONTESTED = (
    select(func.count(Result.task_index.distinct()))
    .select_from(Witness)
    .join(Result, and_(Result.campaign_id == Witness.campaign_id, Result.task_index == Witness.task_index))
    .where(Witness.campaign_id == CAMPAIGN, Result.lot < SHARE)
)
_UNCONFIRMED = select(func.count()).select_from(union(waiting.DRAWN, waiting.UNCONFIRMED).subquery())
_CONFIRMED = select(func.count(Event.id)).where(Event.campaign_id == CAMPAIGN, Event.kind == EventKind.CONFIRMED)


def checked(connection: Connection, campaign: CampaignRecord, conflicts: Collection[int]) -> Checked:
    """How far the results of a campaign are checked; ``conflicts``: the tasks whose results disagree."""
    share = waiting.reasons(connection, campaign.campaign_id).share
    parameters = {"campaign": campaign.campaign_id, "share": share}
    drawn = connection.scalar(_DRAWN if share else _CONTESTED, parameters) or 0
    unconfirmed = (connection.scalar(_UNCONFIRMED, parameters) or 0) if drawn else 0
    confirmed = connection.scalar(_CONFIRMED, parameters) or 0
    return Checked(share, drawn, drawn - unconfirmed, confirmed, len(conflicts))


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
        )
    )


_VOTED = union(_voted(Result), _voted(Witness))
_VOTERS = select(Voter.host, Voter.token).where(among(Voter.id, "voters"))


def without_voter(
    connection: Connection, campaign_id: int, rechecks: Sequence[int], voters: Collection[int]
) -> int:
    """How many rechecks no voter may make; of very many a sample says it.

    Args:
        rechecks: tasks whose results wait, and that nobody evaluates again now.
        voters: those that are here.
    """
    if not rechecks:
        return 0
    sample = rechecks[:: -(-len(rechecks) // SAMPLE)]
    voted: dict[int, list[tuple[str, str]]] = {task: [] for task in sample}
    for row in connection.execute(_VOTED, {"campaign": campaign_id, "tasks": sample}):
        voted[row.task_index].append((row.host, row.token))
    here = [(row.host, row.token) for row in connection.execute(_VOTERS, {"voters": sorted(voters)})]
    alone = sum(not any(_may_vote(voter, earlier) for voter in here) for earlier in voted.values())
    return round(alone * len(rechecks) / len(sample))


def _may_vote(voter: tuple[str, str], voted: Collection[tuple[str, str]]) -> bool:
    """Whether a (host, token) is independent of all that have voted."""
    host, token = voter
    return all(host != other and not (token and token == others) for other, others in voted)
