"""The account of what operators were told: each thing once, whoever serves the campaign, over restarts.

Whoever tells something claims it first.  A claim that is neither followed by :func:`told` nor by :func:`not_told`,
because its process died, is over after some time: then another one tells it, or the same one after a restart.  So
what the receiver got may come again in one case alone: when the process died between its answer and our note of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Connection, bindparam, insert, select, update

from db.states import NoticeKind
from db.store.database import Database
from db.store.dialects import Now, Purpose, alone
from db.store.models import Notice

CLAIM_SECONDS = 150.0
"""How long a claim holds: longer than any attempt to tell."""
MOST_TRIES = 60
"""After so many failures it is given up, until more of the kind happens."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 600.0
"""Seconds after the first failure, and after many."""


@dataclass(frozen=True)
class Claim:
    """The right to tell something now.

    Attributes:
        notice_id: its number in the account.
        kind: of what is told.
        about: which occurrence: the number of the last event that it covers, for kinds that have events.
        after: the occurrence that was told before: events up to this one are not covered.
        tries: how often somebody has begun to tell it, this time among them.
    """

    notice_id: int
    kind: NoticeKind
    about: int
    after: int
    tries: int


def claim(
    database: Database,
    campaign_id: int,
    channel: str,
    kind: NoticeKind,
    about: int,
    by_events: bool = False,
    pause: float = 0.0,
) -> Claim | None:
    """Claim to tell something; None: it was told, somebody else tells it, or it is too early.

    Args:
        database: where the campaign is kept.
        campaign_id: its number there.
        channel: by which it is told.
        kind: of what is told.
        about: which occurrence.
        by_events: whether that is the number of an event; then it covers those before it.
        pause: seconds after the last one of the kind before which a new one is not told: what happens meanwhile is
            told in one.
    """
    # Mostly there is nothing to tell, and a look costs less than a turn.
    with database.reading() as connection:
        if _due(connection, campaign_id, channel, kind, about, by_events, pause) is None:
            return None
    with database.writing() as connection:
        alone(connection, Purpose.CLAIM_NOTICE)
        due = _due(connection, campaign_id, channel, kind, about, by_events, pause)
        if due is None:
            return None
        until = {"tries": due.tries, "next_try": Now() + CLAIM_SECONDS}
        if due.notice_id:
            connection.execute(update(Notice).where(Notice.id == due.notice_id).values(about=about, **until))
            return due
        fresh = {"campaign_id": campaign_id, "channel": channel, "kind": kind, "about": about}
        number = connection.scalar(insert(Notice).values(**fresh, **until).returning(Notice.id))
        assert number is not None
        return replace(due, notice_id=number)


def _due(
    connection: Connection,
    campaign_id: int,
    channel: str,
    kind: NoticeKind,
    about: int,
    by_events: bool,
    pause: float,
) -> Claim | None:
    """What may be claimed now, with the number 0 when the account has no line of it yet; see :func:`claim`."""
    now = connection.scalar(select(Now())) or 0.0
    rows = connection.execute(_ROWS, {"campaign": campaign_id, "channel": channel, "kind": kind}).all()
    told = [row for row in rows if row.told is not None]
    after = max((row.about for row in told), default=0)
    if any(row.about == about for row in told) or (by_events and about <= after):
        return None
    waiting = next((row for row in rows if row.told is None), None)
    if waiting is None:
        too_early = any(row.told > now - pause for row in told)
        return None if too_early else Claim(0, kind, about, after, 1)
    tries = waiting.tries + 1 if waiting.about == about else 1
    if waiting.next_try > now or tries > MOST_TRIES:
        return None
    return Claim(waiting.id, kind, about, after, tries)


_ROWS = (
    select(Notice.id, Notice.about, Notice.tries, Notice.next_try, Notice.told)
    .where(
        Notice.campaign_id == bindparam("campaign"),
        Notice.channel == bindparam("channel"),
        Notice.kind == bindparam("kind"),
    )
    .order_by(Notice.id)
)


def told(database: Database, claimed: Claim) -> None:
    """Note that it arrived."""
    with database.writing() as connection:
        connection.execute(update(Notice).where(Notice.id == claimed.notice_id).values(told=Now()))


def not_told(database: Database, claimed: Claim) -> float:
    """Note that it did not arrive; returns the seconds until it may be tried again."""
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (claimed.tries - 1))
    with database.writing() as connection:
        connection.execute(update(Notice).where(Notice.id == claimed.notice_id).values(next_try=Now() + pause))
    return pause
