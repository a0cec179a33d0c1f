"""What becomes of results that workers hand in, or that are imported; within one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, insert

from db import queries, replication, transitions
from db.dialects import Now
from db.models import Attempt
from db.queries import origin
from db.records import CampaignRecord, Delivery
from db.states import EventKind, Outcome
from langford.errors import CheckFailed
from langford.methods import Plan
from langford.result import Evaluation, PartialResult


def accept(
    connection: Connection, campaign: CampaignRecord, plan: Plan, deliveries: Sequence[Delivery]
) -> list[EventKind | None]:
    """Take results within a transaction: the kind of event of each, see Campaign.deliver."""
    campaign_id = campaign.campaign_id
    attempts = [each.attempt for each in deliveries]
    results = [each.evaluation.result for each in deliveries]
    owned = queries.attempts(connection, campaign_id, attempts)
    # Nobody leased the others: forgeries, or mix-ups that must not end another task's attempt.
    leased = [
        attempt in owned and owned[attempt].index == result.index
        for attempt, result in zip(attempts, results, strict=True)
    ]
    faults = [_fault(plan, result) if own else None for result, own in zip(results, leased, strict=True)]
    first: dict[int, Delivery] = {}
    for delivery, result, own, fault in zip(deliveries, results, leased, faults, strict=True):
        if own and fault is None and owned[delivery.attempt].accepted is None:
            first.setdefault(result.index, delivery)
    inserted = transitions.insert_results(connection, campaign_id, list(first.values()))
    if len(inserted) < len(first):
        # Another transaction was faster: what it brought is accepted, ours confirms or contradicts it.
        owned = queries.attempts(connection, campaign_id, attempts)
        first = {index: delivery for index, delivery in first.items() if index in inserted}
    accepted = {attempt.index: attempt.accepted for attempt in owned.values() if attempt.accepted}
    accepted |= {
        index: (str(delivery.evaluation.result.value), delivery.attempt) for index, delivery in first.items()
    }

    events: list[EventKind | None] = []
    further: list[Delivery] = []
    for delivery, result, own, fault in zip(deliveries, results, leased, faults, strict=True):
        index, attempt, value = result.index, delivery.attempt, str(result.value)
        if not own:
            detail = f"no attempt {attempt} at task {index}"
            transitions.record(connection, campaign_id, EventKind.REFUSED, None, None, detail)
            events.append(EventKind.REFUSED)
        elif fault is not None:
            transitions.fail(connection, campaign_id, attempt, fault)
            transitions.record(connection, campaign_id, EventKind.REFUSED, index, attempt, fault)
            events.append(EventKind.REFUSED)
        elif accepted[index] == (value, attempt):
            events.append(None)
        else:
            accepted_value, accepted_attempt = accepted[index]
            kind = EventKind.CONFIRMED if accepted_value == value else EventKind.CONFLICT
            detail = f"{value} by attempt {attempt}, {accepted_value} by attempt {accepted_attempt}"
            transitions.record(connection, campaign_id, kind, index, attempt, detail)
            further.append(delivery)
            events.append(kind)

    suspects = replication.suspects(
        connection, campaign, [(index, owned[delivery.attempt]) for index, delivery in first.items()]
    )
    transitions.complete(connection, campaign_id, list(first.values()))
    replication.queue(connection, campaign_id, suspects)
    if further:
        attempts = [each.attempt for each in further]
        transitions.end(connection, transitions.CHOSEN, Outcome.SUPERSEDED, None, attempts=attempts)
        replication.testify(connection, campaign_id, further)
    return events


def take(
    connection: Connection,
    campaign: CampaignRecord,
    plan: Plan,
    worker: str,
    evaluations: Sequence[Evaluation],
) -> list[EventKind | None]:
    """Take exported results as attempts of ``worker``: the events of the new ones, see Campaign.take."""
    known = queries.origins(connection, campaign.campaign_id)
    new = [each for each in evaluations if (each.result.index, origin(each)) not in known]
    if not new:
        return []
    rows = [
        {
            "campaign_id": campaign.campaign_id,
            "task_index": evaluation.result.index,
            "worker_id": worker,
            "note": origin(evaluation),
        }
        for evaluation in new
    ]
    started = insert(Attempt).returning(Attempt.id, sort_by_parameter_order=True)
    attempts = connection.scalars(started.values(granted=Now(), deadline=Now()), rows).all()
    deliveries = [Delivery(attempt, evaluation) for attempt, evaluation in zip(attempts, new, strict=True)]
    return accept(connection, campaign, plan, deliveries)


def _fault(plan: Plan, result: PartialResult) -> str | None:
    """What is wrong with a result by itself, or None."""
    try:
        plan.expectation(result.index).check(result)
    except CheckFailed as error:
        return str(error)
    return None
