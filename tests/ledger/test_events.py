"""The last event of each kind is known, though only new events are read."""

from __future__ import annotations

from sqlalchemy import func, insert, select

from db import Campaign
from db.look.events import LatestEvents
from db.schema.dialects import Now
from db.schema.models import Event
from db.states import EventKind


def record(campaign: Campaign, kind: EventKind) -> int:
    """Returns its number."""
    with campaign.database.writing() as connection:
        event = {"campaign_id": campaign.campaign_id, "at": Now(), "kind": kind, "detail": str(kind)}
        connection.execute(insert(Event).values(**event))
        return connection.scalar(select(func.max(Event.id))) or 0


def test_the_last_event_of_each_kind_is_known_also_when_it_is_long_over(campaign: Campaign) -> None:
    clock = [1_000.0]
    campaign.database.now = lambda: clock[0]
    first = record(campaign, EventKind.CONFLICT)
    latest = LatestEvents(campaign.database, campaign.campaign_id, [EventKind.CONFLICT, EventKind.DISTRUSTED])
    assert latest.by_kind() == {EventKind.CONFLICT: first}
    for _ in range(10):
        clock[0] += 25.0
        record(campaign, EventKind.CONFIRMED)
        last = record(campaign, EventKind.CONFLICT)
        assert latest.by_kind() == {EventKind.CONFLICT: last}
    other = record(campaign, EventKind.DISTRUSTED)
    for _ in range(5):
        clock[0] += 25.0
        assert latest.by_kind() == {EventKind.CONFLICT: last, EventKind.DISTRUSTED: other}
