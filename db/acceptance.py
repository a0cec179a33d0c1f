"""What becomes of results that workers hand in."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from db import queries, replication, transitions
from db.models import Attempt
from db.records import CampaignRecord, Delivery, OwnAttempt
from db.states import EventKind, Outcome
from langford.errors import CheckFailed
from langford.methods import Plan


def accept(
    connection: Connection, campaign: CampaignRecord, plan: Plan, deliveries: Sequence[Delivery]
) -> list[EventKind | None]:
    """Take results within a transaction: the kind of event of each, see Ledger.accept."""
    events: list[EventKind | None] = []
    fresh: list[tuple[Delivery, OwnAttempt]] = []
    further: list[Delivery] = []
    known = queries.values(connection, campaign.id, [each.result.index for each in deliveries])
    owned = queries.attempts(connection, campaign.id, [each.attempt for each in deliveries])
    for each in deliveries:
        index, value = each.result.index, str(each.result.value)
        attempt = owned.get(each.attempt)
        if attempt is None or attempt.index != index:
            # Nobody leased this: a forgery, or a mix-up that must not end another task's attempt.
            events.append(EventKind.REFUSED)
            detail = f"no attempt {each.attempt} at task {index}"
            transitions.record(connection, campaign.id, EventKind.REFUSED, None, None, detail)
            continue
        try:
            plan.expectation(index).check(each.result)
        except CheckFailed as error:
            transitions.fail(connection, campaign.id, each.attempt, str(error))
            kind, detail = EventKind.REFUSED, str(error)
        else:
            if index not in known:
                known[index] = value, each.attempt
                fresh.append((each, attempt))
            if known[index] == (value, each.attempt):
                events.append(None)
                continue
            first, by = known[index]
            further.append(each)
            kind = EventKind.CONFIRMED if first == value else EventKind.CONFLICT
            detail = f"{value} by attempt {each.attempt}, {first} by attempt {by}"
        events.append(kind)
        transitions.record(connection, campaign.id, kind, index, each.attempt, detail)
    suspects = replication.suspects(
        connection, campaign, [(each.result.index, attempt) for each, attempt in fresh]
    )
    transitions.insert_results(connection, campaign, [each for each, _ in fresh])
    replication.queue(connection, campaign.id, suspects)
    if further:
        ended = Attempt.id.in_([each.attempt for each in further])
        transitions.end(connection, ended, Outcome.SUPERSEDED, None)
        replication.testify(connection, campaign.id, further)
    return events
