"""How far results are checked by further results, and how many rechecks none of the present workers may do."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Select, bindparam, func, select, union

from db.look.overview.records import Checked
from db.records import CampaignRecord, Standing
from db.schema.dialects import Now, among
from db.schema.models import Attempt, Event, Result, Token, Voter, Witness, Worker
from db.states import EventKind, VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import waiting
from db.trust.votes import independent
from db.work import leases, queries
from db.work.presence import Names
from langford.words import duration

SAMPLE = 200
"""Number of rechecks in the sample from which the number without a voter is estimated."""

RESTING_SECONDS = 300.0
"""How long a token without results may hold tasks without a step in any of them before that is reported."""

_CONFIRMED = select(func.count(Event.id)).where(Event.campaign_id == CAMPAIGN, Event.kind == EventKind.CONFIRMED)


def checked(
    transaction: Transaction, campaign: CampaignRecord, standing: Standing, conflicts: Collection[int]
) -> Checked:
    """``conflicts``: the tasks whose results disagree."""
    if not standing.tasks_done:
        return Checked(campaign.recheck_share, 0, 0, 0, 0)
    promised = waiting.replication(transaction)
    confirmed = transaction.scalar(_CONFIRMED) or 0
    return Checked(campaign.recheck_share, promised.drawn, promised.replicated, confirmed, len(conflicts))


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


def without_voter(transaction: Transaction, rechecks: Sequence[int], voters: Collection[int]) -> int:
    """Number of rechecks that none of the present voters may do, estimated from a sample if there are many.

    ``rechecks``: tasks whose results wait and are not being evaluated now.
    """
    if not rechecks:
        return 0
    sample = rechecks[:: -(-len(rechecks) // SAMPLE)]
    voted: dict[int, list[tuple[str, str]]] = {task: [] for task in sample}
    for row in transaction.execute(_VOTED, tasks=sample):
        voted[row.task_index].append((row.host, row.token))
    here = [(row.host, row.token) for row in transaction.connection.execute(_VOTERS, {"voters": sorted(voters)})]
    alone = sum(
        not any(all(independent(*voter, *other) for other in earlier) for voter in here)
        for earlier in voted.values()
    )
    return round(alone * len(rechecks) / len(sample))


_HELD = (
    select(Voter.token, func.max(Attempt.steps).label("steps"))
    .join(Worker, Worker.voter_id == Voter.id)
    .join(Attempt, Attempt.worker_id == Worker.id)
    .where(Attempt.campaign_id == CAMPAIGN, Attempt.ended.is_(None))
    .group_by(Voter.token)
)
_SINCE = (
    select(Now() - func.min(Attempt.granted))
    .join(Worker, Worker.id == Attempt.worker_id)
    .join(Voter, Voter.id == Worker.voter_id)
    .where(Attempt.campaign_id == CAMPAIGN, Voter.token == bindparam("token"))
)
_FRUITLESS = select(Token.id).where(Token.campaign_id == CAMPAIGN, Token.results == 0)


def held_in_vain(transaction: Transaction, name: str) -> list[str]:
    """Warnings about tokens that hold tasks and bring no results."""
    warnings, numbers = [], Names(transaction).numbers
    fruitless = set(transaction.scalars(_FRUITLESS)) if numbers else set()
    held = transaction.execute(_HELD).all() if fruitless else []
    for token, steps in held:
        number = numbers.get(token)
        if number not in fruitless:
            continue
        passed = float(transaction.scalar(_SINCE, token=token) or 0.0)
        if passed > (RESTING_SECONDS if steps is None else leases.warranted(transaction, token)):
            warnings.append(
                f"token {number} has leased tasks for {duration(passed)} and delivered no result; held are "
                f"{queries.holders_in_words(transaction, token)}: look at these workers; "
                f"`langford token {name} --revoke {number}` ends their leases"
            )
    return warnings
