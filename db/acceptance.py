"""Results that workers deliver, or that are imported: each is accepted, compared or refused, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, insert

from db import queries, replication, transitions
from db.dialects import Now
from db.exports import origin
from db.models import Attempt
from db.records import CampaignRecord, Delivery
from db.states import EventKind, Outcome
from langford.errors import CheckFailed
from langford.methods import Plan
from langford.result import Evaluation, PartialResult


def accept(
    connection: Connection, campaign: CampaignRecord, plan: Plan, deliveries: Sequence[Delivery]
) -> list[EventKind | None]:
    """Take results; returns the kind of event of each, see Campaign.deliver."""
    campaign_id = campaign.campaign_id
    attempt_ids = [delivery.attempt for delivery in deliveries]
    results = [delivery.evaluation.result for delivery in deliveries]
    attempts = queries.attempts(connection, campaign_id, attempt_ids)
    # A result without a lease is a forgery or a mix-up: it must not end the attempt of another task.
    leased = [
        attempt_id in attempts and attempts[attempt_id].index == result.index
        for attempt_id, result in zip(attempt_ids, results, strict=True)
    ]
    faults = [
        _fault(plan, result) if is_leased else None for result, is_leased in zip(results, leased, strict=True)
    ]
    first: dict[int, Delivery] = {}
    for delivery, result, is_leased, fault in zip(deliveries, results, leased, faults, strict=True):
        if is_leased and fault is None and attempts[delivery.attempt].accepted is None:
            first.setdefault(result.index, delivery)
    inserted = transitions.insert_results(connection, campaign_id, list(first.values()))
    if len(inserted) < len(first):
        # Another transaction was faster: its results are accepted, ours confirm or contradict them.
        attempts = queries.attempts(connection, campaign_id, attempt_ids)
        first = {index: delivery for index, delivery in first.items() if index in inserted}
    accepted = {attempt.index: attempt.accepted for attempt in attempts.values() if attempt.accepted}
    accepted |= {
        index: (str(delivery.evaluation.result.value), delivery.attempt) for index, delivery in first.items()
    }

    events: list[EventKind | None] = []
    further: list[Delivery] = []
    for delivery, result, is_leased, fault in zip(deliveries, results, leased, faults, strict=True):
        index, attempt_id, value = result.index, delivery.attempt, str(result.value)
        if not is_leased:
            detail = f"no attempt {attempt_id} at task {index}"
            transitions.record(connection, campaign_id, EventKind.REFUSED, None, None, detail)
            events.append(EventKind.REFUSED)
        elif fault is not None:
            transitions.fail(connection, campaign_id, attempt_id, fault)
            transitions.record(connection, campaign_id, EventKind.REFUSED, index, attempt_id, fault)
            events.append(EventKind.REFUSED)
        elif accepted[index] == (value, attempt_id):
            events.append(None)
        else:
            accepted_value, accepted_id = accepted[index]
            kind = EventKind.CONFIRMED if accepted_value == value else EventKind.CONFLICT
            detail = f"{value} by attempt {attempt_id}, {accepted_value} by attempt {accepted_id}"
            transitions.record(connection, campaign_id, kind, index, attempt_id, detail)
            further.append(delivery)
            events.append(kind)

    suspects = replication.suspects(
        connection, campaign, [(index, attempts[delivery.attempt]) for index, delivery in first.items()]
    )
    transitions.complete(connection, campaign_id, list(first.values()))
    replication.queue(connection, campaign_id, suspects)
    if further:
        superseded = [delivery.attempt for delivery in further]
        transitions.end(connection, transitions.CHOSEN, Outcome.SUPERSEDED, None, attempts=superseded)
        replication.testify(connection, campaign_id, further)
    return events


def unknown(
    connection: Connection, campaign: CampaignRecord, evaluations: Sequence[Evaluation]
) -> list[Evaluation]:
    """Those exported results that the campaign neither took nor exported before."""
    known = queries.origins(connection, campaign.campaign_id)
    return [evaluation for evaluation in evaluations if (evaluation.result.index, origin(evaluation)) not in known]


def take(
    connection: Connection, campaign: CampaignRecord, plan: Plan, worker_id: str, new: Sequence[Evaluation]
) -> list[EventKind | None]:
    """Take exported results as attempts of a worker; returns the event of each, see Ledger.take."""
    if not new:
        return []
    rows = [
        {
            "campaign_id": campaign.campaign_id,
            "task_index": evaluation.result.index,
            "worker_id": worker_id,
            "note": origin(evaluation),
        }
        for evaluation in new
    ]
    started = insert(Attempt).returning(Attempt.id, sort_by_parameter_order=True)
    attempt_ids = connection.scalars(started.values(granted=Now(), deadline=Now()), rows).all()
    deliveries = [Delivery(attempt_id, evaluation) for attempt_id, evaluation in zip(attempt_ids, new, strict=True)]
    return accept(connection, campaign, plan, deliveries)


def _fault(plan: Plan, result: PartialResult) -> str | None:
    """Why a result fails the checks of its task; None when it passes."""
    try:
        plan.expectation(result.index).check(result)
    except CheckFailed as error:
        return str(error)
    return None
