"""Results that workers deliver, or that are imported: each is accepted, compared or refused, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sqlalchemy import Connection, insert

from db.files.exports import origin
from db.records import AttemptRecord, CampaignRecord, Computation, Delivery, Receipt
from db.states import EventKind, Outcome
from db.store.dialects import Now
from db.store.models import Attempt
from db.trust import witnesses
from db.work import completions, computations, nonces, queries, transitions, turns
from langford.errors import CheckFailed
from langford.methods import Plan
from langford.result import Evaluation, PartialResult

NOTHING: Mapping[int, Computation] = MappingProxyType({})
MOST_VALUES = 2
"""Values of one attempt that are kept: two contradict each other, and more would only fill the ledger."""


class Overtaken(Exception):
    """Another transaction was faster with the first result of a task: begin again, one at a time."""


def accept(
    connection: Connection,
    campaign: CampaignRecord,
    plan: Plan,
    deliveries: Sequence[Delivery],
    one_at_a_time: bool = False,
) -> list[Receipt]:
    """Take results; returns what became of each, see Campaign.deliver.

    Args:
        one_at_a_time: whether to wait for others even if every result seems to be the first of its task.

    Raises Overtaken, unless ``one_at_a_time``: the transaction is to be undone.
    """
    campaign_id = campaign.campaign_id
    attempt_ids = [delivery.attempt for delivery in deliveries]
    results = [delivery.evaluation.result for delivery in deliveries]
    attempts = queries.attempts(connection, campaign_id, attempt_ids)
    if one_at_a_time or any(attempt.accepted for attempt in attempts.values()):
        # Votes will be counted.
        turns.one_at_a_time(connection)
        attempts, one_at_a_time = queries.attempts(connection, campaign_id, attempt_ids), True
    # A result without a lease of its own is a forgery or a mix-up: it must not touch the attempt of another worker.
    leased = [_is_leased(attempts.get(delivery.attempt), delivery) for delivery in deliveries]
    faults = [
        _fault(plan, result) if is_leased else None for result, is_leased in zip(results, leased, strict=True)
    ]
    first: dict[int, Delivery] = {}
    for delivery, result, is_leased, fault in zip(deliveries, results, leased, faults, strict=True):
        if is_leased and fault is None and attempts[delivery.attempt].accepted is None:
            first.setdefault(result.index, delivery)
    genuine = [delivery for delivery, is_leased in zip(deliveries, leased, strict=True) if is_leased]
    lots = witnesses.lots(connection, campaign_id, genuine, attempts)
    inserted = transitions.insert_results(connection, campaign_id, list(first.values()), attempts, lots)
    if len(inserted) < len(first):
        if not one_at_a_time:
            raise Overtaken
        # Another transaction was faster: its results are accepted, ours confirm or contradict them.
        attempts = queries.attempts(connection, campaign_id, attempt_ids)
        first = {index: delivery for index, delivery in first.items() if index in inserted}
    accepted = {attempt.index: attempt.accepted for attempt in attempts.values() if attempt.accepted}
    accepted |= {
        index: (str(delivery.evaluation.result.value), delivery.attempt) for index, delivery in first.items()
    }

    testified = witnesses.testimonies(connection, attempt_ids) if one_at_a_time else {}
    receipts: list[Receipt] = []
    further: list[Delivery] = []
    for delivery, result, is_leased, fault in zip(deliveries, results, leased, faults, strict=True):
        index, attempt_id, value = result.index, delivery.attempt, str(result.value)
        if not is_leased:
            detail = f"the nonce shown is of no attempt {attempt_id} at task {index}"
            receipts.append(Receipt(EventKind.REFUSED, detail))
        elif fault is not None:
            transitions.fail(connection, campaign_id, attempt_id, index, fault)
            transitions.record(connection, campaign_id, EventKind.REFUSED, index, attempt_id, fault)
            receipts.append(Receipt(EventKind.REFUSED, fault))
        elif accepted[index] == (value, attempt_id):
            receipts.append(Receipt(None))
        else:
            accepted_value, accepted_id = accepted[index]
            kind = EventKind.CONFIRMED if accepted_value == value else EventKind.CONFLICT
            detail = f"{value} by attempt {attempt_id}, {accepted_value} by attempt {accepted_id}"
            said = testified.setdefault(attempt_id, set())
            if attempt_id == accepted_id:
                said.add(accepted_value)
            if value not in said and len(said) < MOST_VALUES:
                said.add(value)
                transitions.record(connection, campaign_id, kind, index, attempt_id, detail)
                further.append(delivery)
            receipts.append(Receipt(kind, detail))
    refused = [delivery.attempt for delivery, is_leased in zip(deliveries, leased, strict=True) if not is_leased]
    if refused:
        # One event for all of them: a stranger must not fill the ledger.
        detail = f"{len(refused)} results without the nonce of their attempt (first: attempt {refused[0]})"
        transitions.record(connection, campaign_id, EventKind.REFUSED, None, None, detail)

    completions.complete(connection, campaign_id, list(first.values()), attempts)
    if further and not one_at_a_time:
        raise Overtaken
    if further:
        superseded = [delivery.attempt for delivery in further]
        completions.note_began(connection, further, attempts)
        transitions.end(connection, transitions.CHOSEN, Outcome.SUPERSEDED, None, attempts=superseded)
        witnesses.testify(connection, campaign_id, further, lots)
    return receipts


def unknown(
    connection: Connection, campaign: CampaignRecord, evaluations: Sequence[Evaluation]
) -> list[Evaluation]:
    """Those exported results that the campaign neither took nor exported before."""
    known = queries.origins(connection, campaign.campaign_id)
    return [evaluation for evaluation in evaluations if (evaluation.result.index, origin(evaluation)) not in known]


def take(
    connection: Connection,
    campaign: CampaignRecord,
    plan: Plan,
    worker_id: str,
    new: Sequence[Evaluation],
    notes: Sequence[str],
    told: Mapping[int, Computation] = NOTHING,
) -> list[Receipt]:
    """Take results without leases, as attempts of a worker; returns what became of each.

    Args:
        worker_id: the worker, which is enrolled.
        new: the results.
        notes: where each of them comes from.
        told: how they came to be, by task, as far as that is known.
    """
    if not new:
        return []
    nonce = nonces.fresh()
    rows = [
        {
            "campaign_id": campaign.campaign_id,
            "task_index": evaluation.result.index,
            "worker_id": worker_id,
            "nonce": nonces.digest(nonce),
            "note": note,
        }
        for evaluation, note in zip(new, notes, strict=True)
    ]
    turns.one_at_a_time(connection)
    started = insert(Attempt).returning(Attempt.id, sort_by_parameter_order=True)
    attempt_ids = connection.scalars(started.values(granted=Now(), deadline=Now()), rows).all()
    deliveries = [
        Delivery(attempt_id, nonce, evaluation) for attempt_id, evaluation in zip(attempt_ids, new, strict=True)
    ]
    receipts = accept(connection, campaign, plan, deliveries, one_at_a_time=True)
    indices = [evaluation.result.index for evaluation in new]
    computations.keep(connection, worker_id, list(zip(attempt_ids, indices, strict=True)), told)
    return receipts


def _is_leased(attempt: AttemptRecord | None, delivery: Delivery) -> bool:
    """Whether a delivery shows the nonce of an attempt at its task."""
    return (
        attempt is not None
        and attempt.index == delivery.evaluation.result.index
        and nonces.is_genuine(delivery.nonce, attempt.nonce)
    )


def _fault(plan: Plan, result: PartialResult) -> str | None:
    """Why a result fails the checks of its task; None when it passes."""
    try:
        plan.expectation(result.index).check(result)
    except CheckFailed as error:
        return str(error)
    return None
