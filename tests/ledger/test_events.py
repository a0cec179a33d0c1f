"""Events that are read once each, in order, whatever transactions take long."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import func, insert, select

from db import Campaign
from db.look.events import EventReader, LatestEvents
from db.schema.dialects import Now
from db.schema.models import Event
from db.states import EventKind
from tests.support.campaigns import new_campaign
from tests.support.databases import new_ledger


def record(campaign: Campaign, kind: EventKind) -> None:
    with campaign.database.writing() as connection:
        connection.execute(_event(campaign, kind))


def _event(campaign: Campaign, kind: EventKind) -> object:
    return insert(Event).values(campaign_id=campaign.campaign_id, at=Now(), kind=kind, detail=str(kind))


def test_each_event_is_read_once(campaign: Campaign) -> None:
    record(campaign, EventKind.CONFLICT)
    where = campaign.database, campaign.campaign_id
    reader, latest = EventReader(*where, [EventKind.CONFLICT]), LatestEvents(*where, [EventKind.CONFLICT])
    assert reader.new() == []
    before = latest.by_kind()[EventKind.CONFLICT]
    for kind in (EventKind.CONFLICT, EventKind.CONFIRMED, EventKind.CONFLICT):
        record(campaign, kind)
    assert [event.kind for event in reader.new()] == [EventKind.CONFLICT] * 2
    assert reader.new() == []
    with campaign.database.reading() as connection:
        last = connection.scalar(select(func.max(Event.id)))
    assert latest.by_kind() == {EventKind.CONFLICT: last}
    assert before < last


def test_an_event_of_a_transaction_that_takes_long_is_not_missed(tmp_path: Path) -> None:
    with new_ledger("postgres", tmp_path) as ledger:
        campaign = new_campaign(ledger)
        reader = EventReader(campaign.database, campaign.campaign_id, [EventKind.CONFLICT])
        with campaign.database.writing() as slow:
            slow.execute(_event(campaign, EventKind.CONFLICT))
            record(campaign, EventKind.CONFLICT)
            [fast] = reader.new()
        [late] = reader.new()
        assert late.event_id < fast.event_id
        assert reader.new() == []


def test_the_reader_forgets_what_is_long_over(campaign: Campaign) -> None:
    clock = [1_000.0]
    campaign.database.now = lambda: clock[0]
    reader = EventReader(campaign.database, campaign.campaign_id, [EventKind.CONFLICT])
    seen = 0
    for _ in range(10):
        record(campaign, EventKind.CONFLICT)
        seen += len(reader.new())
        clock[0] += 25.0
    assert seen == 10
