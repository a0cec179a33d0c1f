"""Results that wait to be evaluated again: each query derives them from the results and their voters.

A result waits if it is in doubt, if its voter is no longer trusted, or if it is drawn and no trusted, independent
voter has confirmed it.  No table lists these results, so none can be missing from it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Float, Row, ScalarSelect, Select, and_, bindparam, func, select, union

from db.errors import ConflictingResults, Unreplicated, UntrustedResults
from db.files.promise import Promise
from db.records import CampaignRecord, Replication
from db.schema.models import Attempt, Campaign, Event, Result, Task, Voter, Witness, same_task
from db.states import Doubt, EventKind, TaskState, VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from langford.words import several

SHARE: ColumnElement[float] = bindparam("share", type_=Float(53))
_DISTRUSTED = select(Voter.id).where(Voter.distrusted.is_not(None))
_OF_CAMPAIGN = select(Result.campaign_id, Result.task_index).where(Result.campaign_id == CAMPAIGN)
_OF_THIS_CAMPAIGN = select(Result.campaign_id, Result.task_index).where(Result.campaign_id + 0 == CAMPAIGN)
"""The same, without the index of the campaign, by which SQLite would read all of its results."""
MAY_BE_DRAWN: ColumnElement[bool] = and_(Result.listed, Result.confirmed_by.is_(None))
"""Whether a result is not confirmed, and waits if it is drawn."""
IS_DRAWN: ColumnElement[bool] = and_(MAY_BE_DRAWN, Result.lot < SHARE)
"""Whether a result is drawn and not confirmed."""
# For each voter: the index of the draw ends with the lots.
_BY_VOTERS = _OF_CAMPAIGN.where(Result.voter_id.in_(select(Voter.id)))
_DRAWN: Select[int, int] = _BY_VOTERS.where(IS_DRAWN)
_DRAWN_AND_CONFIRMED = _BY_VOTERS.where(Result.listed, Result.confirmed_by.is_not(None), Result.lot < SHARE)
DOUBTED: Select[int, int] = _OF_CAMPAIGN.where(
    Result.doubt.is_not(None), Result.doubt.in_([Doubt.CONFLICT, Doubt.QUESTION])
)
"""Results in doubt, except those that only the operator can decide."""
UNTRUSTED: Select[int, int] = _OF_THIS_CAMPAIGN.where(Result.voter_id.in_(_DISTRUSTED))
"""Results of distrusted voters."""
UNCONFIRMED: Select[int, int] = _OF_THIS_CAMPAIGN.where(
    Result.confirmed_by.is_not(None), Result.confirmed_by.in_(_DISTRUSTED), Result.lot < SHARE
)
"""Results that are drawn and were confirmed only by a distrusted voter."""
_WAITING = union(_DRAWN, DOUBTED, UNTRUSTED, UNCONFIRMED)

DOUBTS = select(Result.task_index).where(Result.campaign_id == CAMPAIGN, Result.doubt.is_not(None)).exists()
DISTRUST = _DISTRUSTED.exists()
_REASONS = select(Campaign.recheck_share.label("share"), DOUBTS.label("doubts"), DISTRUST.label("distrust")).where(
    Campaign.id == CAMPAIGN
)


def _reasons(transaction: Transaction) -> Row[*tuple[Any, ...]]:
    """(share, doubts, distrust): why results of a campaign may wait; if all are 0, none waits."""
    return transaction.execute(_REASONS).one()


def tasks(transaction: Transaction) -> list[int]:
    """By index."""
    why = _reasons(transaction)
    if not any(why):
        return []
    rows = transaction.execute(_WAITING, share=why.share)
    return sorted(row.task_index for row in rows)


_RECHECKED_NOW = (
    select(func.count(Attempt.task_index.distinct()))
    .join_from(Attempt, Task, same_task(Task, Attempt))
    # By the index of deadlines: by that of the campaign SQLite would read all its attempts.
    .where(
        Attempt.campaign_id + 0 == CAMPAIGN,
        Attempt.ended.is_(None),
        Attempt.deadline > 0,
        Task.state == TaskState.DONE,
    )
)


def numbers(transaction: Transaction) -> tuple[int, int]:
    """(number of results that wait, number of them that are being evaluated now)."""
    why = _reasons(transaction)
    if not any(why):
        return 0, 0
    count = select(func.count()).select_from(_WAITING.subquery())
    waiting = transaction.scalar(count, share=why.share) or 0
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
    rows = transaction.execute(UNTRUSTED)
    questioned = in_conflict(transaction, [Doubt.QUESTION])
    return sorted({row.task_index for row in rows} | set(questioned))


def _number(query: Select[*tuple[Any, ...]]) -> ScalarSelect[int]:
    return select(func.count()).select_from(query.subquery()).scalar_subquery()


# In two parts of the index: results that are neither confirmed nor drawn are most of them, and are not read.
_NUMBERS = select(
    _number(_DRAWN).label("unconfirmed"),
    _number(_DRAWN_AND_CONFIRMED).label("confirmed"),
    _number(UNCONFIRMED).label("by_distrusted"),
)
# Without a share, only contested results are drawn, and each of them has a witness.
_CONTESTED = (
    select(func.count(Result.task_index.distinct()))
    .select_from(Witness)
    .join(Result, same_task(Result, Witness))
    .where(Witness.campaign_id == CAMPAIGN, Result.lot < SHARE)
)


def replication(transaction: Transaction) -> Replication:
    share = _reasons(transaction).share
    contested = 0 if share else transaction.scalar(_CONTESTED, share=share)
    if not (share or contested):
        return Replication(0, 0)
    found = transaction.execute(_NUMBERS, share=share).one()
    drawn = found.unconfirmed + found.confirmed if share else contested
    return Replication(drawn, drawn - found.unconfirmed - found.by_distrusted)


_IMPORTED = _OF_THIS_CAMPAIGN.where(Result.voter_id.in_(select(Voter.id).where(Voter.kind == VoterKind.IMPORT)))
_VOTES = (
    select(
        Result.task_index, Result.voter_id, Result.confirmed_by, Voter.kind, Voter.distrusted, Result.lot < SHARE
    )
    .outerjoin(Voter, Voter.id == Result.confirmed_by)
    .where(Result.campaign_id == CAMPAIGN, (Result.lot < SHARE) | Result.confirmed_by.is_not(None))
    .order_by(Result.task_index)
)


def promise(transaction: Transaction) -> Promise | None:
    """The promise that an export of a campaign states.

    None for a campaign without a share into which files were imported: this ledger does not know what was promised
    in the ledgers of their origin.
    """
    share = _reasons(transaction).share
    if not share and transaction.execute(_IMPORTED.limit(1)).first() is not None:
        return None
    drawn: set[int] = set()
    confirmed: dict[int, tuple[int, int] | None] = {}
    for index, voter, by, kind, distrusted, is_drawn in transaction.execute(_VOTES, share=share):
        if share and is_drawn:
            drawn.add(index)
        if by is None or distrusted is not None:
            continue
        if kind == VoterKind.OPERATOR:
            confirmed[index] = None
        elif voter not in (None, by):
            confirmed[index] = voter, by
    return Promise(share, frozenset(drawn), confirmed).renumbered()


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
            + f"run another worker on another host, whose vote counts: {_another_worker(campaign)}, or {decide}"
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
            f"{name} has {kept.words}: {missing:,} wait for a worker on another host, with another token if "
            f"it uses a server (`langford token {name}`): {_another_worker(campaign)}, or {decide}, or print the "
            f"count as it is: `langford result {name} --unconfirmed`"
        )


def _another_worker(campaign: CampaignRecord) -> str:
    return f"`langford run {' '.join(campaign.key.arguments)} --name {campaign.name}` on this ledger"
