"""Replication: another voter evaluates a task again, and votes decide if results disagree.

Which results wait for that follows from their state (:mod:`db.trust.waiting`), and what votes decide from plain
rules (:mod:`db.trust.votes`).  This module stores further results as witnesses, carries out the decisions, and
takes the votes from results that the operator puts in question.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, Select, and_, func, insert, or_, select, update

from db.attempts import Delivery
from db.schema.dialects import Now, among
from db.schema.models import Attempt, Result, ResultColumns, Token, Voter, Witness, Worker, same_task
from db.states import EventKind, Outcome, VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from db.trust.votes import Ruling, Vote, rule
from db.work import results, transitions
from db.work.identities import identity
from db.work.presence import called
from langford.words import several

CONTENT = ("attempt_id", *ResultColumns.__annotations__)
"""Columns that a result and a witness share."""


def testimonies(transaction: Transaction, attempts: Collection[int]) -> dict[int, set[str]]:
    """The values that attempts delivered for tasks that already had a result, by attempt."""
    values: dict[int, set[str]] = {}
    testified = select(Witness.attempt_id, Witness.value).where(among(Witness.attempt_id, "attempts"))
    for attempt, value in transaction.connection.execute(testified, {"attempts": attempts}):
        values.setdefault(attempt, set()).add(value)
    return values


def testify(transaction: Transaction, deliveries: Sequence[Delivery]) -> None:
    """Store further results of tasks, none of which is among the :func:`testimonies`, and let the votes decide."""
    rows = [results.row_of(delivery) for delivery in deliveries]
    transaction.connection.execute(
        insert(Witness).values(campaign_id=transaction.campaign_id, accepted=Now()), rows
    )
    settle(transaction, {delivery.index for delivery in deliveries})


def settle(transaction: Transaction, tasks: Collection[int]) -> None:
    """Let the votes on tasks decide, and on all tasks that lose votes by such a decision."""
    unsettled = {transaction.campaign_id: set(tasks)}
    while unsettled:
        campaign_id, indices = unsettled.popitem()
        concerned = transaction.on(campaign_id)
        refuted: dict[int, int] = {}
        for index, votes, accepted in _votes(concerned, indices):
            ruling = rule(votes, accepted.drawn)
            _carry_out(concerned, index, ruling, accepted)
            refuted |= dict.fromkeys(ruling.refuted, index)
        for voter_id, index in sorted(refuted.items()):
            for other_id, task in _distrust(concerned, voter_id, index):
                unsettled.setdefault(other_id, set()).add(task)


def _votes(transaction: Transaction, tasks: Collection[int]) -> list[tuple[int, list[Vote], Row[*tuple[Any, ...]]]]:
    """(task, its votes, the row of its accepted result) of each of these tasks that has a result."""
    accepted: dict[int, Row[*tuple[Any, ...]]] = {}
    votes: dict[int, list[Vote]] = {}
    for query in _VOTES:
        for row in transaction.execute(query, tasks=sorted(tasks)):
            accepted.setdefault(row.task_index, row)
            votes.setdefault(row.task_index, []).append(
                Vote(
                    row.witness_id,
                    row.attempt_id,
                    row.value,
                    row.voter_id,
                    VoterKind.IMPORT if row.is_revoked else VoterKind(row.kind),
                    identity(row.host, row.token),
                    row.distrusted is None,
                    row.questioned is not None,
                )
            )
    return [(index, votes[index], accepted[index]) for index in sorted(votes)]


def _votes_in(table: type[Result] | type[Witness], *more: Any) -> Select[*tuple[Any, ...]]:
    return (
        select(
            table.task_index,
            table.attempt_id,
            table.value,
            Worker.voter_id,
            Voter.kind,
            Voter.host,
            Voter.token,
            Voter.distrusted,
            and_(Voter.token != "", Token.id.is_(None)).label("is_revoked"),
            Attempt.questioned,
            *more,
        )
        .join(Attempt, Attempt.id == table.attempt_id)
        .join(Worker, Worker.id == Attempt.worker_id)
        .join(Voter, Voter.id == Worker.voter_id)
        .outerjoin(Token, Token.digest == Voter.token)
        .where(table.campaign_id == CAMPAIGN, among(table.task_index, "tasks"))
        .order_by(table.task_index, table.attempt_id)
    )


_NO_WITNESS = func.nullif(1, 1).label("witness_id")
_VOTES = (
    _votes_in(Result, _NO_WITNESS, Result.drawn, Result.doubt),
    _votes_in(Witness, Witness.id.label("witness_id")),
)


def _carry_out(transaction: Transaction, index: int, ruling: Ruling, accepted: Row[*tuple[Any, ...]]) -> None:
    """Change the accepted result of a task to what the votes decided."""
    if ruling.held.witness_id is not None:
        _exchange(transaction, index, ruling.held.witness_id)
    transaction.execute(
        update(Result)
        .where(Result.campaign_id == CAMPAIGN, Result.task_index == index)
        .values(
            voter_id=ruling.held.voter_id, confirmed_by=ruling.confirmed_by, drawn=ruling.drawn, doubt=ruling.doubt
        )
    )
    if ruling.doubt is None and (
        accepted.doubt is not None or ruling.held.value != accepted.value or ruling.refuted
    ):
        detail = f"{ruling.held.value} by attempt {ruling.held.attempt_id}"
        transitions.record(transaction, EventKind.SETTLED, index, ruling.held.attempt_id, detail)


def _distrust(transaction: Transaction, voter_id: int, index: int) -> list[tuple[int, int]]:
    """Distrust a voter: the leases of its workers end, and its results wait to be evaluated again.

    So do the unconfirmed results of whoever is the same (:data:`db.trust.waiting.SUSPECT`), since a liar may invent
    another host for each lie.  Returns (campaign, task) of the tasks on which it voted with others.
    """
    trusted = Voter.id == voter_id, Voter.distrusted.is_(None)
    host = transaction.connection.scalar(
        update(Voter).where(*trusted).values(distrusted=Now()).returning(Voter.host)
    )
    if host is None:
        return []
    transitions.record(transaction, EventKind.DISTRUSTED, index, None, f"voter {voter_id}, host {host}")
    note = "its worker is distrusted"
    transitions.end(transaction, transitions.OF_VOTER, Outcome.EXPIRED, note, voter=voter_id)
    rows = transaction.connection.execute(_TOGETHER.where(Voter.id == voter_id))
    return [(row.campaign_id, row.task_index) for row in rows]


_TOGETHER = (
    select(Witness.campaign_id, Witness.task_index)
    .join(Attempt, same_task(Attempt, Witness))
    .join(Worker, Worker.id == Attempt.worker_id)
    .join(Voter, Voter.id == Worker.voter_id)
    .distinct()
)
"""The tasks on which a voter voted with others."""


def discount(transaction: Transaction, shown: Collection[str]) -> None:
    """Let the votes decide without those of workers whose tokens, given by their digests, were revoked."""
    rows = transaction.execute(_TOGETHER.where(among(Voter.token, "tokens")), tokens=sorted(shown))
    settle(transaction, {row.task_index for row in rows})


def _exchange(transaction: Transaction, index: int, witness_id: int) -> None:
    of_result = Result.campaign_id == CAMPAIGN, Result.task_index == index
    of_witness = Witness.id == witness_id
    old = transaction.execute(select(*(getattr(Result, name) for name in CONTENT)).where(*of_result))
    new = transaction.connection.execute(select(*(getattr(Witness, name) for name in CONTENT)).where(of_witness))
    accepted, witness = old.mappings().one(), new.mappings().one()
    transaction.execute(update(Result).where(*of_result).values(**witness))
    transaction.connection.execute(update(Witness).where(of_witness).values(**accepted))


def question(
    transaction: Transaction, tasks: Collection[int] | None, worker: str | None, kernels: str | None
) -> list[int]:
    """See :meth:`db.campaign.operator.OperatorCampaign.question`."""
    transitions.one_at_a_time(transaction)
    # Not by their outcome: an expired attempt may have delivered a late result.
    results = [
        Attempt.id.in_(select(table.attempt_id).where(table.campaign_id == CAMPAIGN)) for table in (Result, Witness)
    ]
    chosen = [Attempt.campaign_id == CAMPAIGN, or_(*results), Attempt.questioned.is_(None)]
    values: dict[str, object] = {}
    if tasks is not None:
        chosen.append(among(Attempt.task_index, "tasks"))
        values["tasks"] = sorted(tasks)
    if worker is not None:
        chosen.append(Attempt.worker_id.in_(select(Worker.id).where(called(worker))))
    if kernels is not None:
        said = [
            Attempt.id.in_(
                select(table.attempt_id).where(
                    table.campaign_id == CAMPAIGN, table.provenance.contains(f'"{kernels}"', autoescape=True)
                )
            )
            for table in (Result, Witness)
        ]
        enrolled = Attempt.worker_id.in_(select(Worker.id).where(Worker.kernels == kernels))
        chosen.append(or_(enrolled, *said))
    marked = update(Attempt).where(*chosen).values(questioned=Now()).returning(Attempt.task_index)
    questioned = sorted(set(transaction.scalars(marked, **values)))
    settle(transaction, questioned)
    if questioned:
        detail = f"{several(len(questioned), 'task')} (first: {questioned[0]})"
        transitions.record(transaction, EventKind.QUESTIONED, None, None, detail)
    return questioned
