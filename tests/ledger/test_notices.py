"""The record of notices: each is sent once, by whichever server, and again only if it is unknown whether it was."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sqlalchemy import func, insert, select, update

from db import Campaign
from db.look import notices
from db.look.events import EventReader, LatestEvents
from db.look.notices import Claim
from db.schema.dialects import Now
from db.schema.models import Event, Notice
from db.states import EventKind, NoticeKind
from tests.support.campaigns import new_campaign
from tests.support.database_clock import DAY, moved_clock
from tests.support.databases import new_ledger

DONE, CONFLICT = NoticeKind.DONE, NoticeKind.CONFLICT


def claim(campaign: Campaign, kind: NoticeKind, about: int, channel: str = "url", **more: float) -> Claim | None:
    by_events = kind is CONFLICT
    where = campaign.database, campaign.campaign_id
    return notices.claim(*where, channel, notices.Fact(kind, about, by_events, **more))


def let_time_pass(campaign: Campaign) -> None:
    """What may be tried again later may be tried now."""
    with campaign.database.writing() as connection:
        connection.execute(update(Notice).where(Notice.told.is_(None)).values(next_try=Now() - 1))


def test_what_was_told_is_not_told_again(campaign: Campaign) -> None:
    first = claim(campaign, DONE, 0)
    assert first is not None
    assert claim(campaign, DONE, 0) is None  # another process is sending it
    notices.delivered(campaign.database, first)
    let_time_pass(campaign)
    assert claim(campaign, DONE, 0) is None
    assert claim(campaign, DONE, 0, channel="command") is not None
    assert claim(campaign, DONE, 7) is not None  # done once more, after results were put in question


def test_of_many_servers_one_tells_it(campaign: Campaign) -> None:
    start = threading.Barrier(8)

    def one() -> Claim | None:
        start.wait()
        return claim(campaign, DONE, 0)

    with ThreadPoolExecutor(8) as pool:
        claimed = [future.result() for future in [pool.submit(one) for _ in range(8)]]
    assert len([each for each in claimed if each is not None]) == 1


def test_failures_wait_longer_and_longer_and_end(campaign: Campaign) -> None:
    waits = []
    while len(waits) <= notices.MAX_TRIES and (claimed := claim(campaign, DONE, 0)) is not None:
        waits.append(notices.failed(campaign.database, claimed))
        assert claim(campaign, DONE, 0) is None
        let_time_pass(campaign)
    assert waits[:4] == [1.0, 2.0, 4.0, 8.0]
    assert waits[-1] == notices.MAX_PAUSE_SECONDS
    assert len(waits) == notices.MAX_TRIES


def test_what_happens_while_it_fails_is_told_in_one(campaign: Campaign) -> None:
    first = claim(campaign, CONFLICT, 10)
    assert first is not None
    notices.delivered(campaign.database, first)
    assert claim(campaign, CONFLICT, 9) is None  # by a server that has not seen the tenth event yet
    second = claim(campaign, CONFLICT, 20)
    assert second is not None
    notices.failed(campaign.database, second)
    let_time_pass(campaign)
    both = claim(campaign, CONFLICT, 30)
    assert both is not None
    assert (both.notice_id, both.after, both.fact.about, both.tries) == (second.notice_id, 10, 30, 1)


def test_what_follows_soon_waits(campaign: Campaign) -> None:
    first = claim(campaign, CONFLICT, 10, pause=60.0)
    assert first is not None
    notices.delivered(campaign.database, first)
    assert claim(campaign, CONFLICT, 20, pause=60.0) is None
    assert claim(campaign, CONFLICT, 20, pause=0.0) is not None


def test_notices_are_sent_after_a_clock_that_was_ahead_was_set_back(campaign: Campaign) -> None:
    with moved_clock() as clock:
        clock.move(DAY)
        told, owed = claim(campaign, CONFLICT, 10), claim(campaign, DONE, 0)
        assert told is not None
        assert owed is not None
        notices.delivered(campaign.database, told)
        notices.failed(campaign.database, owed)
        clock.move(-DAY)
        assert claim(campaign, CONFLICT, 20, pause=60.0) is not None
        assert claim(campaign, DONE, 0) is not None


# -- events -----------------------------------------------------------------------------------


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
