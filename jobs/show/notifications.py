"""Notifications for an operator who is not watching: each is sent by a command, at least once.

A thread looks at the campaigns and sends what is due; nothing waits for it.  It remembers what it has sent as long
as the process lives: another process sends what still holds again, with the same id.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Any

from db import Campaign, Standing
from db.errors import LedgerError
from db.look import events
from db.look.overview.records import WarningKind
from db.messages import iso
from db.states import EventKind, TaskState
from jobs.clock import SYSTEM, Clock
from jobs.show.hooks import CommandHook, NotDelivered
from jobs.show.wording import LISTED, WORDINGS, tasks_of
from langford.errors import named
from langford.words import duration, several

LOOK_SECONDS = 1.0
"""Time between two looks at the campaigns."""
THRIFT = 50.0
"""Looks at a campaign take at most one part in 50 of the time."""
MAX_PAUSE = 15.0
"""Longest time between two looks, in seconds: on a busy machine even a cheap look takes long."""
GRACE_SECONDS = 2.0
"""How long the end of a delivery that was given up is waited for."""
LATER = "the next `langford run` or `langford serve` with this ledger tries again"
EVENT_PAUSE = 60.0
"""Seconds after a notification in which further events of its kind are collected for the next one."""
FIRST_PAUSE, MAX_PAUSE_OF_FAILURES = 1.0, 600.0
"""Seconds after the first failure of the command, and after many."""
STALLED_SECONDS = 900.0
"""By default a campaign has stalled when no one has worked for this many seconds."""


class NoticeKind(StrEnum):
    """What an operator is notified of."""

    DONE = "done"  # every task has a result, and no result waits to be evaluated again
    STALLED = "stalled"  # there is work, but no worker does any
    CONFLICT = "conflict"  # results of a task disagree
    DISTRUSTED = "distrusted"  # a result was found wrong, and its worker is no longer trusted
    SET_ASIDE = "set_aside"  # a task failed too often
    DISK_NEARLY_FULL = WarningKind.DISK_NEARLY_FULL  # that of the ledger, before it is full
    DISK_FULL = WarningKind.DISK_FULL  # a write to the ledger found no space


EVENT_KINDS: Mapping[NoticeKind, EventKind] = {
    NoticeKind.CONFLICT: EventKind.CONFLICT,
    NoticeKind.DISTRUSTED: EventKind.DISTRUSTED,
    NoticeKind.SET_ASIDE: EventKind.SET_ASIDE,
}
REOPENING = EventKind.CONFLICT, EventKind.DISTRUSTED, EventKind.QUESTIONED
"""After one of these events a finished campaign may become unfinished, and be done again."""
Say = Callable[[str, str], None]
"""Called with a remark and the name of the campaign."""


@dataclass(frozen=True)
class Fact:
    """Something to notify, unless it was notified before.

    Attributes:
        kind: what it is.
        about: its occurrence, 0 or more; for the kinds of EVENT_KINDS the number of the last event that the notice
            covers.
        text: in words; "": :func:`notice` finds them.
    """

    kind: NoticeKind
    about: int
    text: str = ""


@dataclass
class Told:
    """What was sent about facts of one kind; times are monotonic seconds."""

    about: int = -1  # of the last notice
    at: float = -inf  # when that was
    failures: int = 0  # since then
    next_try: float = -inf

    def is_due(self, fact: Fact, now: float, at_once: bool) -> bool:
        """``at_once``: do not collect further events of the kind."""
        if fact.kind not in EVENT_KINDS:
            return fact.about != self.about and now >= self.next_try
        collected = at_once or now >= self.at + EVENT_PAUSE
        return fact.about > self.about and collected and now >= self.next_try

    def fail(self, now: float) -> float:
        """Returns the seconds until the next try."""
        pause = min(MAX_PAUSE_OF_FAILURES, FIRST_PAUSE * 2.0**self.failures)
        self.failures, self.next_try = self.failures + 1, now + pause
        return pause


class NotifiableFacts:
    """The facts about a campaign that are worth a notification now, whether or not one was sent."""

    def __init__(self, campaign: Campaign, stalled_seconds: float, clock: Clock = SYSTEM) -> None:
        self._campaign, self._stalled_seconds, self._clock = campaign, stalled_seconds, clock
        kinds = {*EVENT_KINDS.values(), *REOPENING}
        self._events = events.LatestEvents(campaign.database, campaign.campaign_id, kinds)
        self._standing: Standing | None = None
        self._next_look = 0.0
        # Seconds that the last two looks took: a single slow one had to wait for something.
        self._looks = deque([0.0], maxlen=2)
        self._state: tuple[int, int] | None = None
        self._short: Mapping[NoticeKind, int] = {}  # of space: since how many tasks were done
        self._since = self._clock.monotonic()

    @property
    def standing(self) -> Standing:
        """How far the campaign was at the last look."""
        return self._standing or self._campaign.reader.standing()

    def now(self, at_once: bool = False) -> list[Fact]:
        """The facts; none if the last look was expensive and recent.

        ``at_once``: look anyway.
        """
        began = self._clock.monotonic()
        if began < self._next_look and not at_once:
            return []
        latest = self._events.by_kind()
        facts = [Fact(kind, latest[event]) for kind, event in EVENT_KINDS.items() if event in latest]
        facts += self._of_the_tasks(latest)
        self._looks.append(self._clock.monotonic() - began)
        self._next_look = self._clock.monotonic() + min(THRIFT * min(self._looks), MAX_PAUSE)
        return facts

    def _of_the_tasks(self, latest: Mapping[EventKind, int]) -> list[Fact]:
        self._standing = standing = self._campaign.reader.standing()
        done = standing.tasks_done
        if not (standing.to_do or standing.rechecking or standing.tasks.get(TaskState.SET_ASIDE)):
            undecided = self._campaign.reader.rechecked_tasks()
            return [] if undecided else [Fact(NoticeKind.DONE, max(latest.get(kind, 0) for kind in REOPENING))]
        short = {
            NoticeKind(warning.kind): warning.text for warning in self._campaign.reader.lacks_room(standing.missing)
        }
        self._short = {kind: self._short.get(kind, done) for kind in short}
        facts = [Fact(kind, self._short[kind], text) for kind, text in short.items()]
        state = done, standing.rechecks
        patience = self._campaign.reader.patience() if standing.to_do else inf
        if state != self._state or patience == inf:
            self._state, self._since = state, self._clock.monotonic()
        # Leases count only as long as tasks take: a campaign whose tasks are all held by a liar has stalled.
        if self._clock.monotonic() - self._since < max(self._stalled_seconds, patience):
            return facts
        return [*facts, Fact(NoticeKind.STALLED, done)]


class Notifier:
    """Sends what is due about some campaigns by a command, in a thread of its own."""

    def __init__(
        self,
        campaigns: Sequence[Campaign],
        hook: CommandHook,
        say: Say,
        stalled_seconds: float = STALLED_SECONDS,
        clock: Clock = SYSTEM,
    ) -> None:
        """
        Args:
            campaigns: of one ledger.
            hook: gets the notifications.
            say: called in the notifier's thread, with what was sent and what was not.
            stalled_seconds: without a result, after which a campaign has stalled.
            clock: measures.
        """
        self._facts = {campaign: NotifiableFacts(campaign, stalled_seconds, clock) for campaign in campaigns}
        self._hook, self._say, self._clock = hook, say, clock
        self._stopping = threading.Event()
        self._give_up_at = float("inf")
        # Campaigns of which nothing can be seen now.
        self._blind: set[str] = set()
        self._told = defaultdict[tuple[str, NoticeKind], Told](Told)
        # (campaign, kind) of what did not arrive yet.
        self._owed: set[tuple[str, NoticeKind]] = set()
        self._thread = threading.Thread(target=self._run, name="notify", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Look once more, send what is due, and end.

        Args:
            seconds: that this may take; what takes longer waits for a restart.
        """
        self._give_up_at = self._clock.monotonic() + seconds
        self._stopping.set()
        try:
            self._thread.join(seconds)
        finally:  # also at a second Ctrl-C: a command would outlive this process
            if self._thread.is_alive():
                self._give_up_at = 0.0
                self._hook.give_up()
                self._thread.join(GRACE_SECONDS)
        for campaign, kind in sorted(self._owed):
            self._say(f"{self._hook.where} was not notified of {kind.value!r}: {LATER}", campaign)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self.look()
            self._clock.wait(LOOK_SECONDS, self._stopping)
        self.look(at_once=True)
        while self._owed and self._clock.monotonic() < self._give_up_at:
            self._clock.wait(LOOK_SECONDS / 4)
            self.look(at_once=True)

    def look(self, at_once: bool = False) -> None:
        """Notify what is due about all campaigns; ``at_once``: also what would wait for more of its kind."""
        for campaign, facts in self._facts.items():
            try:
                for fact in facts.now(at_once):
                    if self._told[campaign.name, fact.kind].is_due(fact, self._clock.monotonic(), at_once):
                        self._notify(campaign, facts.standing, fact)
                self._blind.discard(campaign.name)
            except Exception as error:  # whatever it is: the thread must continue, and the work does without it
                said = str(error) if isinstance(error, LedgerError) else named(error)
                if campaign.name not in self._blind:
                    self._say(f"cannot see what to notify: {said}", campaign.name)
                self._blind.add(campaign.name)

    def _notify(self, campaign: Campaign, standing: Standing, fact: Fact) -> None:
        subject = campaign.name, fact.kind
        told = self._told[subject]
        self._owed.add(subject)
        document = notice(campaign, fact, told.about, standing, self._clock.wall())
        try:
            self._hook.notify(json.dumps(document).encode())
        except NotDelivered as error:
            again = f"trying again in {duration(told.fail(self._clock.monotonic()))}"
            if self._clock.monotonic() >= self._give_up_at:
                again = LATER
                self._owed.discard(subject)  # this is the last word on it
            message = f"{self._hook.where} was not notified of {fact.kind.value!r}: {error}; {again}"
            self._say(message, campaign.name)
            return
        self._owed.discard(subject)
        attempts = f" at attempt {told.failures + 1}" if told.failures else ""
        self._told[subject] = Told(fact.about, self._clock.monotonic())
        self._say(f"{self._hook.where} was notified of {fact.kind.value!r}{attempts}", campaign.name)


def notice(campaign: Campaign, fact: Fact, after: int, standing: Standing, at: float) -> dict[str, Any]:
    """The JSON document that the command gets, see docs/watching.md; it has no token and no address of a ledger.

    Args:
        campaign: of the ledger.
        fact: what to notify.
        after: the occurrence of the last notice of this kind; it covered the events up to this one.
        standing: of the campaign, now.
        at: the time, in seconds since 1970.
    """
    number, tasks = 1, list[int]()
    if fact.kind in EVENT_KINDS:
        kind = EVENT_KINDS[fact.kind]
        with campaign.database.reading() as connection:
            happened = events.between(connection, campaign.campaign_id, kind, after, fact.about)
        number, tasks = len(happened), tasks_of(happened)
        wording = WORDINGS[kind]
        text = wording.one(happened[0]) if number == 1 else wording.many(happened)
    elif fact.kind is NoticeKind.DONE:
        text = f"done: all of {several(campaign.tasks, 'task')} have results"
    elif not (text := fact.text):
        held = campaign.reader.holders_in_words()
        works = f"no result arrives from the workers that hold tasks ({held})" if held else "no worker is active"
        text = f"stalled: {works}, and {several(standing.to_do, 'task is', 'tasks are')} left"
    return {
        "id": f"{campaign.uuid}/{fact.kind}/{fact.about}",
        "kind": fact.kind.value,
        "campaign": campaign.name,
        "uuid": campaign.uuid,
        "problem": campaign.problem.name,
        "at": iso(at),
        "text": f"{campaign.name}: {text}",
        "number": number,
        "tasks": tasks[:LISTED],
        "tasks_by_state": dict(standing.tasks),
    }
