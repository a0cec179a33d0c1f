"""Writes the lines of the server's log about its campaigns, in a thread that looks at their overviews.

So the log has what `langford status` shows: the events and the warnings that are new, and the progress.  The lines
cover everything that happened in the campaigns, whichever server the workers used, and no request waits for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial

from db import Campaign
from db.errors import LedgerError
from db.look import progress
from db.look.overview.records import Happened, Overview
from db.look.overview.shared import Shared
from db.look.overview.workers import DONE
from db.states import EventKind
from jobs.clock import SYSTEM, Clock, repeated
from jobs.show import log_lines
from jobs.show.wording import in_a_line
from langford.errors import named

ACTIVITY_SECONDS, LOOK_SECONDS, PROGRESS_SECONDS = 1.0, 5.0, 60.0
"""Time between two questions which campaigns are active, two looks at one, and two lines on its progress."""
REST_SECONDS = 60.0
"""How much longer nobody looks at a campaign without workers: a server may have a thousand of them."""
IDLE_SECONDS = 600.0
"""Time between two lines on the progress while nothing changes."""
LATE_SECONDS = 60.0
"""How long after its time an event may be seen first: some transactions take long."""
UNSAID = {EventKind.CREATED, EventKind.CONFIRMED, DONE}
"""The kinds of events that have no line, because they are too many, or have a line of their own."""


class CampaignReporter:
    """Writes the lines about one campaign."""

    def __init__(self, overviews: Shared[Overview], clock: Clock = SYSTEM) -> None:
        self._overviews, self._clock = overviews, clock
        self._before: Overview | None = None
        self._progress = ""
        self._next_look = self._next_progress = 0.0

    @property
    def rests(self) -> bool:
        if self._before is None or self._clock.monotonic() >= self._next_look + REST_SECONDS:
            return False
        return not any(worker.state.is_present for worker in self._before.workers)

    def look(self, at_once: bool = False) -> None:
        """``at_once``: whether or not it is time to."""
        if at_once:
            self._overviews.forget()
        elif self._clock.monotonic() < self._next_look:
            return
        now, before = self._overviews.newest(), self._before
        self._before, self._next_look = now, self._clock.monotonic() + LOOK_SECONDS
        for events in [] if before is None else _new_events(before, now):
            log_lines.happened(now.campaign, events)
        known = set() if before is None else {warning.kind for warning in before.warnings}
        for warning in now.warnings:
            if warning.kind not in known:
                log_lines.line(warning.text, now.campaign)
        if now.finished is None:
            self._say_progress(now)
        elif before is None or before.finished is None:
            log_lines.done(now)

    def _say_progress(self, now: Overview) -> None:
        """Log the progress each minute, and less often while nothing changes."""
        if self._clock.monotonic() < self._next_progress:
            return
        words = in_a_line(now)
        idle_until = self._next_progress + IDLE_SECONDS - PROGRESS_SECONDS
        if words == self._progress and self._clock.monotonic() < idle_until:
            return
        self._progress = words
        self._next_progress = self._clock.monotonic() + PROGRESS_SECONDS
        log_lines.line(words, now.campaign)


def _new_events(before: Overview, now: Overview) -> list[list[Happened]]:
    """The events that the overview before did not have, by kind, oldest first."""
    known = set(before.events)
    by_kind: dict[str, list[Happened]] = {}
    for event in reversed(now.events):
        if event not in known and event.at > before.now - LATE_SECONDS and event.kind not in UNSAID:
            by_kind.setdefault(event.kind, []).append(event)
    return list(by_kind.values())


class Reporter:
    """Writes the lines about all campaigns of a server."""

    def __init__(self, campaigns: Mapping[Campaign, Shared[Overview]], clock: Clock = SYSTEM) -> None:
        self._reporters = {campaign: CampaignReporter(shared, clock) for campaign, shared in campaigns.items()}
        self._databases = {campaign.database for campaign in campaigns}
        # Campaigns of which nothing can be seen now.
        self._blind: set[str] = set()

    def look(self, at_once: bool = False) -> None:
        """``at_once``: log about all campaigns, at once."""
        active: set[int] | None = None
        with suppress(LedgerError):  # each reporter says what is wrong
            active = {number for database in self._databases for number in progress.leasing(database)}
        for campaign, reporter in self._reporters.items():
            name = campaign.name
            if active is not None and campaign.campaign_id not in active and reporter.rests and not at_once:
                continue
            try:
                reporter.look(at_once)
                self._blind.discard(name)
            except Exception as error:  # whatever it is: the thread must continue, and the server does without it
                said = str(error) if isinstance(error, LedgerError) else named(error)
                if name not in self._blind:
                    log_lines.line(f"cannot read the progress: {said}", name)
                self._blind.add(name)


def reported(campaigns: Mapping[Campaign, Shared[Overview]]) -> AbstractContextManager[None]:
    """Write the lines while the block runs, in a thread of its own, and the last ones at its end."""
    reporter = Reporter(campaigns)
    return repeated(reporter.look, ACTIVITY_SECONDS, "reporter", last=partial(reporter.look, at_once=True))
