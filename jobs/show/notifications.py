"""Notifications for an operator who is not watching: each is sent by a command, at least once.

A thread looks at the overviews of the campaigns: some of the warnings of `langford status` are notified, and that a
campaign is done or has stalled; nothing waits for it.  It remembers what it has sent as long as the process lives:
another process sends what still holds again, with the same id.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from db import Campaign
from db.errors import LedgerError
from db.look.overview.records import Overview, WarningKind
from db.look.overview.room import LACKS_ROOM
from db.look.overview.shared import Shared
from db.messages import document, iso
from jobs.clock import SYSTEM, Clock
from jobs.show.hooks import CommandHook, NotDelivered
from langford.errors import named
from langford.words import several

LOOK_SECONDS = 5.0
"""Time between two looks at the campaigns."""
OWED_SECONDS = 1.0
"""Time between two tries of what is owed when the process ends."""
GRACE_SECONDS = 2.0
"""How long the end of a delivery that was given up is waited for."""
LATER = "the next `langford run` or `langford serve` with this ledger tries again"
PAUSE_SECONDS = 60.0
"""Seconds after a notification, or a failure, before the next one of its kind: what happens meanwhile is in it."""
STALLED_SECONDS = 900.0
"""By default a campaign has stalled when no one has worked for this many seconds."""
DONE, STALLED = "done", "stalled"
OF_RESULTS = WarningKind.CONFLICT, WarningKind.DISTRUSTED, WarningKind.SET_ASIDE
KINDS = DONE, STALLED, *OF_RESULTS, *LACKS_ROOM
"""What an operator is notified of."""
Say = Callable[[str, str], None]
"""Called with a remark and the name of the campaign."""


@dataclass(frozen=True)
class Fact:
    """Something to notify, unless it was notified before.

    ``about``: changes when there is more of the kind to notify; "" never does.
    """

    kind: str
    about: str
    text: str


@dataclass
class Told:
    """What was sent about facts of one kind."""

    about: str | None = None  # of the last notice; None: nothing was sent of what holds now
    tried: float = -inf  # when a notice was sent, or could not be, in monotonic seconds


class NotifiableFacts:
    """The facts about a campaign that are worth a notification now, whether or not one was sent."""

    def __init__(self, campaign: Campaign, stalled_seconds: float, clock: Clock = SYSTEM) -> None:
        self._campaign, self._stalled_seconds, self._clock = campaign, stalled_seconds, clock
        self._state: tuple[int, ...] = ()
        self._since = self._clock.monotonic()

    def of(self, overview: Overview) -> list[Fact]:
        warned = {warning.kind: warning.text for warning in overview.warnings}
        facts = [
            *(Fact(kind, warned[kind], warned[kind]) for kind in OF_RESULTS if kind in warned),
            *(Fact(kind, "", warned[kind]) for kind in LACKS_ROOM if kind in warned),
        ]
        if overview.finished is not None:
            done = f"all of {several(overview.tasks.total, 'task')} have results"
            facts.append(Fact(DONE, iso(overview.finished), done))
        elif self._has_stalled(overview):
            facts.append(Fact(STALLED, str(overview.tasks.done), self._why(overview)))
        return facts

    def _has_stalled(self, overview: Overview) -> bool:
        """Leases count only as long as tasks take: a campaign whose tasks are all held by a liar has stalled."""
        tasks = overview.tasks
        to_do = tasks.ready + tasks.leased + tasks.recheck
        patience = self._campaign.reader.patience() if to_do else inf
        state = tasks.done, tasks.recheck, overview.checked.confirmed
        if state != self._state or patience == inf:
            self._state, self._since = state, self._clock.monotonic()
        return self._clock.monotonic() - self._since >= max(self._stalled_seconds, patience)

    def _why(self, overview: Overview) -> str:
        held = self._campaign.reader.holders_in_words()
        works = f"no result arrives from the workers that hold tasks ({held})" if held else "no worker is active"
        return f"{works}, and {several(overview.tasks.ready + overview.tasks.leased, 'task is', 'tasks are')} left"


class Notifier:
    """Sends what is due about some campaigns by a command, in a thread of its own."""

    def __init__(
        self,
        overviews: Mapping[Campaign, Shared[Overview]],
        hook: CommandHook,
        say: Say,
        stalled_seconds: float = STALLED_SECONDS,
        clock: Clock = SYSTEM,
    ) -> None:
        """
        Args:
            overviews: of campaigns of one ledger.
            hook: gets the notifications.
            say: called in the notifier's thread, with what was sent and what was not.
            stalled_seconds: without a result, after which a campaign has stalled.
            clock: measures.
        """
        self._overviews = overviews
        self._facts = {campaign: NotifiableFacts(campaign, stalled_seconds, clock) for campaign in overviews}
        self._hook, self._say, self._clock = hook, say, clock
        self._stopping = threading.Event()
        self._give_up_at = float("inf")
        # Campaigns of which nothing can be seen now.
        self._blind: set[str] = set()
        self._told = defaultdict[tuple[str, str], Told](Told)
        # By (campaign, kind) of what did not arrive yet: why.
        self._owed: dict[tuple[str, str], str] = {}
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
        for (campaign, kind), reason in sorted(self._owed.items()):
            self._say(f"{self._hook.where} was not notified of {str(kind)!r}: {reason}; {LATER}", campaign)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self.look()
            self._clock.wait(LOOK_SECONDS, self._stopping)
        for shared in self._overviews.values():
            shared.forget()
        self.look(at_once=True)
        while self._owed and self._clock.monotonic() < self._give_up_at:
            self._clock.wait(OWED_SECONDS)
            self.look(at_once=True)

    def look(self, at_once: bool = False) -> None:
        """Notify what is due about all campaigns; ``at_once``: also what would wait for more of its kind."""
        for campaign, shared in self._overviews.items():
            try:
                overview = shared.newest()
                facts = {fact.kind: fact for fact in self._facts[campaign].of(overview)}
                for kind in KINDS:
                    told, now = self._told[campaign.name, kind], self._clock.monotonic()
                    if kind not in facts:
                        told.about = None
                        self._owed.pop((campaign.name, kind), None)
                    elif facts[kind].about != told.about and (at_once or now >= told.tried + PAUSE_SECONDS):
                        self._notify(campaign, overview, facts[kind])
                self._blind.discard(campaign.name)
            except Exception as error:  # whatever it is: the thread must continue, and the work does without it
                said = str(error) if isinstance(error, LedgerError) else named(error)
                if campaign.name not in self._blind:
                    self._say(f"cannot see what to notify: {said}", campaign.name)
                self._blind.add(campaign.name)

    def _notify(self, campaign: Campaign, overview: Overview, fact: Fact) -> None:
        subject = campaign.name, fact.kind
        told, is_first = self._told[subject], subject not in self._owed
        self._owed.setdefault(subject, "it did not end")
        try:
            self._hook.notify(json.dumps(notice(overview, fact)).encode())
        except NotDelivered as error:
            self._owed[subject] = str(error)
            if is_first and self._clock.monotonic() < self._give_up_at:
                message = f"{self._hook.where} was not notified of {str(fact.kind)!r}: {error}; trying again"
                self._say(message, campaign.name)
        else:
            del self._owed[subject]
            told.about = fact.about
            self._say(f"{self._hook.where} was notified of {str(fact.kind)!r}", campaign.name)
        told.tried = self._clock.monotonic()


def notice(overview: Overview, fact: Fact) -> dict[str, Any]:
    """The JSON document that the command gets, see docs/watching.md; it has no token and no address of a ledger."""
    occurrence = hashlib.sha256(fact.about.encode()).hexdigest()[:12]
    return {
        "id": f"{overview.uuid}/{fact.kind}/{occurrence}",
        "kind": fact.kind,
        "campaign": overview.campaign,
        "uuid": overview.uuid,
        "problem": overview.problem,
        "at": iso(overview.now),
        "text": f"{overview.campaign}: {fact.kind}: {fact.text}",
        "tasks": document(overview.tasks),
    }
