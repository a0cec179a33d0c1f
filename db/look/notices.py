"""The record of notices to operators: each is sent once, whichever process serves the campaign, across restarts.

A process claims a notice before it sends it.  If it dies before it calls :func:`delivered` or :func:`failed`, the
claim expires, and the notice is claimed again.  So a notice is sent twice only if the process died after the
receiver had accepted it and before that was recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Connection, bindparam, insert, select, update

from db.schema.dialects import Now, Purpose, alone
from db.schema.models import Notice
from db.states import NoticeKind
from db.store.database import Database

CLAIM_SECONDS = 150.0
"""How long a claim is valid: longer than any attempt to send a notice."""
MAX_TRIES = 60
"""After this many failures a notice is given up, until there is another one of its kind."""
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 600.0
"""After the first failure, and after many."""
MAX_WAIT_SECONDS = max(CLAIM_SECONDS, MAX_PAUSE_SECONDS)


@dataclass(frozen=True)
class Fact:
    """Something to notify, unless it was notified before."""

    kind: NoticeKind
    about: int  # the occurrence: for kinds that have events, the number of the last event that the notice covers
    by_events: bool = False  # whether the occurrence is that number; then the notice covers earlier events, too
    # Minimum seconds between two notices of a kind; occurrences in between are covered by one notice
    pause: float = 0.0


@dataclass(frozen=True)
class Claim:
    """The right to send a notice now."""

    notice_id: int
    fact: Fact
    after: int  # the occurrence of the last delivered notice: events up to this one are not covered
    tries: int  # number of attempts to send it, including this one


def claim(database: Database, campaign_id: int, channel: str, fact: Fact) -> Claim | None:
    """Claim a notice; None: it was delivered, another process sends it, or it is too early."""
    # Mostly there is nothing to send, and reading costs less than a transaction that writes.
    with database.reading() as connection:
        if _due(connection, campaign_id, channel, fact) is None:
            return None
    with database.writing() as connection:
        alone(connection, Purpose.CLAIM_NOTICE)
        due = _due(connection, campaign_id, channel, fact)
        if due is None:
            return None
        until = {"about": fact.about, "tries": due.tries, "next_try": Now() + CLAIM_SECONDS}
        if due.notice_id:
            connection.execute(update(Notice).where(Notice.id == due.notice_id).values(**until))
            return due
        fresh = {"campaign_id": campaign_id, "channel": channel, "kind": fact.kind}
        number = connection.scalar(insert(Notice).values(**fresh, **until).returning(Notice.id))
        assert number is not None
        return replace(due, notice_id=number)


def _due(connection: Connection, campaign_id: int, channel: str, fact: Fact) -> Claim | None:
    """The notice has the number 0 if it has no row yet; see :func:`claim`."""
    now = connection.scalar(select(Now())) or 0.0
    rows = connection.execute(_ROWS, {"campaign": campaign_id, "channel": channel, "kind": fact.kind}).all()
    sent = [row for row in rows if row.told is not None]
    after = max((row.about for row in sent), default=0)
    if any(row.about == fact.about for row in sent) or (fact.by_events and fact.about <= after):
        return None
    waiting = next((row for row in rows if row.told is None), None)
    if waiting is None:
        too_early = any(now - fact.pause < row.told <= now for row in sent)
        return None if too_early else Claim(0, fact, after, 1)
    tries = waiting.tries + 1 if waiting.about == fact.about else 1
    # Later than that, the clock was ahead and has been set back.
    if now < waiting.next_try <= now + MAX_WAIT_SECONDS or tries > MAX_TRIES:
        return None
    return Claim(waiting.id, fact, after, tries)


_ROWS = (
    select(Notice.id, Notice.about, Notice.tries, Notice.next_try, Notice.told)
    .where(
        Notice.campaign_id == bindparam("campaign"),
        Notice.channel == bindparam("channel"),
        Notice.kind == bindparam("kind"),
    )
    .order_by(Notice.id)
)


def delivered(database: Database, claimed: Claim) -> None:
    with database.writing() as connection:
        connection.execute(update(Notice).where(Notice.id == claimed.notice_id).values(told=Now()))


def failed(database: Database, claimed: Claim) -> float:
    """Returns the seconds until it may be tried again."""
    pause = min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** (claimed.tries - 1))
    with database.writing() as connection:
        connection.execute(update(Notice).where(Notice.id == claimed.notice_id).values(next_try=Now() + pause))
    return pause
