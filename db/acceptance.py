"""What becomes of results that workers hand in."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from db import queries, replication, transitions
from db.records import CampaignRecord, Delivery
from db.states import EventKind, Outcome
from langford.errors import CheckFailed
from langford.methods import Plan
from langford.result import PartialResult


def accept(
    connection: Connection, campaign: CampaignRecord, plan: Plan, deliveries: Sequence[Delivery]
) -> list[EventKind | None]:
    """Take results within a transaction: the kind of event of each, see Ledger.accept."""
    attempts = [each.attempt for each in deliveries]
    owned = queries.attempts(connection, campaign.id, attempts)
    # Nobody leased the others: forgeries, or mix-ups that must not end another task's attempt.
    leased = [each.attempt in owned and owned[each.attempt].index == each.result.index for each in deliveries]
    faults = [_fault(plan, each.result) if own else None for each, own in zip(deliveries, leased, strict=True)]
    first: dict[int, Delivery] = {}
    for each, own, fault in zip(deliveries, leased, faults, strict=True):
        if own and fault is None and owned[each.attempt].accepted is None:
            first.setdefault(each.result.index, each)
    inserted = transitions.insert_results(connection, campaign.id, list(first.values()))
    if len(inserted) < len(first):
        # Another transaction was faster: what it brought is accepted, ours confirms or contradicts it.
        owned = queries.attempts(connection, campaign.id, attempts)
        first = {index: each for index, each in first.items() if index in inserted}
    accepted = {attempt.index: attempt.accepted for attempt in owned.values() if attempt.accepted}
    accepted |= {index: (str(each.result.value), each.attempt) for index, each in first.items()}

    events: list[EventKind | None] = []
    further: list[Delivery] = []
    for each, own, fault in zip(deliveries, leased, faults, strict=True):
        index, attempt, value = each.result.index, each.attempt, str(each.result.value)
        if not own:
            detail = f"no attempt {attempt} at task {index}"
            transitions.record(connection, campaign.id, EventKind.REFUSED, None, None, detail)
            events.append(EventKind.REFUSED)
        elif fault is not None:
            transitions.fail(connection, campaign.id, attempt, fault)
            transitions.record(connection, campaign.id, EventKind.REFUSED, index, attempt, fault)
            events.append(EventKind.REFUSED)
        elif accepted[index] == (value, attempt):
            events.append(None)
        else:
            there, by = accepted[index]
            kind = EventKind.CONFIRMED if there == value else EventKind.CONFLICT
            detail = f"{value} by attempt {attempt}, {there} by attempt {by}"
            transitions.record(connection, campaign.id, kind, index, attempt, detail)
            further.append(each)
            events.append(kind)

    suspects = replication.suspects(
        connection, campaign, [(index, owned[each.attempt]) for index, each in first.items()]
    )
    transitions.complete(connection, campaign.id, list(first.values()))
    replication.queue(connection, campaign.id, suspects)
    if further:
        attempts = [each.attempt for each in further]
        transitions.end(connection, transitions.CHOSEN, Outcome.SUPERSEDED, None, attempts=attempts)
        replication.testify(connection, campaign.id, further)
    return events


def _fault(plan: Plan, result: PartialResult) -> str | None:
    """What is wrong with a result by itself, or None."""
    try:
        plan.expectation(result.index).check(result)
    except CheckFailed as error:
        return str(error)
    return None
