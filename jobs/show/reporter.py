"""Writes the lines of the server's log about its campaigns, in a thread that reads the ledger.

So the lines cover everything that happened in the campaigns, whichever server the workers used, and no request
waits for them.  Repeated events are logged soon after the first one, and then once a minute.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from db import Campaign
from db.errors import LedgerError
from db.look.events import Activity, EventReader
from db.look.overview.records import Overview, WarningKind, WorkerState
from db.look.overview.room import LACKS_ROOM
from db.look.overview.shared import Shared
from jobs.clock import SYSTEM, Clock
from jobs.show import log_lines
from jobs.show.wording import WORDINGS
from langford.errors import named

EVENT_SECONDS, LOOK_SECONDS, PROGRESS_SECONDS = 1.0, 5.0, 60.0
"""Time between two looks for events, two looks for workers, and two lines on the progress."""
IDLE_SECONDS = 600.0
"""Time between two lines on the progress while nothing changes."""
GATHER_SECONDS, PAUSE_SECONDS = 2.0, 60.0
"""How long the first events of a kind are collected for one line, and how long the following ones."""
PRESENCE_SECONDS = 10.0
"""How long workers that come and go are collected: a log that names them a minute late is no help."""
GONE = WorkerState.SILENT, WorkerState.ENDED


class Gathered:
    """Things of one kind, collected until it is time for a line about them."""

    def __init__(self, clock: Clock, log: Callable[[list[Any]], object], pause: float = PAUSE_SECONDS) -> None:
        """``log``: writes the line; ``pause``: seconds between two lines."""
        self._clock, self._log, self._pause = clock, log, pause
        self.waiting: list[Any] = []
        self._due = 0.0
        self._last_line = float("-inf")

    def add(self, thing: object) -> None:
        if not self.waiting:
            self._due = max(self._clock.monotonic() + GATHER_SECONDS, self._last_line + self._pause)
        self.waiting.append(thing)

    @property
    def is_due(self) -> bool:
        return bool(self.waiting) and self._clock.monotonic() >= self._due

    def write(self, at_once: bool) -> None:
        """Write the line, if it is time for it or ``at_once`` is set."""
        if self.waiting and (at_once or self.is_due):
            self._last_line = self._clock.monotonic()
            waiting, self.waiting = self.waiting, []
            self._log(waiting)


class CampaignReporter:
    """Writes the lines about one campaign."""

    def __init__(self, campaign: Campaign, overviews: Shared[Overview], clock: Clock = SYSTEM) -> None:
        self._overviews, self._clock = overviews, clock
        self._events = EventReader(campaign.database, campaign.campaign_id, WORDINGS)
        lines: dict[str, Callable[[list[Any]], object]] = {
            **{kind: partial(log_lines.happened, campaign.name, kind) for kind in WORDINGS},
            **{outcome: partial(log_lines.lost, campaign.name, outcome) for outcome in log_lines.LOSSES},
        }
        self._gathered = {kind: Gathered(clock, log) for kind, log in lines.items()}
        self._presence = {
            change: Gathered(clock, partial(log_lines.changed, campaign.name, change), PRESENCE_SECONDS)
            for change in log_lines.CHANGES
        }
        self._before: Overview | None = None
        # Of all workers that were ever seen: an overview names only some of many.
        self._states: dict[str, WorkerState] = {}
        self._short_of_space, self._progress = set[WarningKind](), ""
        self._next_look = self._next_progress = 0.0
        self._done_said = False

    @property
    def rests(self) -> bool:
        is_present = any(state.is_present for state in self._states.values())
        is_waiting = any(each.waiting for each in (*self._gathered.values(), *self._presence.values()))
        is_due = self._before is None or self._clock.monotonic() >= self._next_look + IDLE_SECONDS
        return not (is_due or is_present or is_waiting)

    def look(self, at_once: bool = False) -> None:
        """``at_once``: do not collect events of a kind first."""
        for event in self._events.new():
            self._gathered[event.kind].add(event)
        if at_once or self._clock.monotonic() >= self._next_look:
            self._next_look = self._clock.monotonic() + LOOK_SECONDS
            self._look_at(self._overviews.newest())
        # Those that come before those that go: a worker may do both while the lines wait.
        presence = self._presence.values()
        is_due = any(gathered.is_due for gathered in presence)
        for gathered in presence:
            gathered.write(at_once or is_due)
        for gathered in self._gathered.values():
            gathered.write(at_once)

    def _look_at(self, now: Overview) -> None:
        before, self._before = self._before, now
        if before is not None:
            self._compare(before, now)
        self._states |= {worker.worker_id: worker.state for worker in now.workers}
        short = {warning.kind: warning for warning in now.warnings if warning.kind in LACKS_ROOM}
        for kind in short.keys() - self._short_of_space:
            log_lines.warned(now.campaign, short[kind])
        self._short_of_space = set(short)
        if now.finished is None:
            self._done_said = False
            self._say_progress(now)
        elif not self._done_said:
            self._done_said = True
            log_lines.done(now)

    def _compare(self, before: Overview, now: Overview) -> None:
        for worker in now.workers:
            was, state = self._states.get(worker.worker_id), worker.state
            if was is None and (state not in GONE or worker.started > before.now - LOOK_SECONDS):
                self._presence["joined"].add(worker)
                was = WorkerState.IDLE
            if was is None or was is state:
                continue
            if state is WorkerState.ENDED:
                self._presence["left"].add(worker)
            elif state is WorkerState.SILENT:
                self._presence["silent"].add(worker)
            elif was in GONE and state is not WorkerState.DISTRUSTED:
                self._presence["back"].add(worker)
        for outcome in log_lines.LOSSES:
            new = now.attempts.get(outcome, 0) - before.attempts.get(outcome, 0)
            if new > 0:
                self._gathered[outcome].add(new)

    def _say_progress(self, now: Overview) -> None:
        """Log the progress each minute, and less often while nothing changes."""
        if self._clock.monotonic() < self._next_progress:
            return
        words = log_lines.progress(now)
        idle_until = self._next_progress + IDLE_SECONDS - PROGRESS_SECONDS
        if words == self._progress and self._clock.monotonic() < idle_until:
            return
        self._progress = words
        self._next_progress = self._clock.monotonic() + PROGRESS_SECONDS
        log_lines.going(now)


class Reporter:
    """Writes the lines about all campaigns of a server, in a thread of its own."""

    def __init__(self, campaigns: Mapping[Campaign, Shared[Overview]], clock: Clock = SYSTEM) -> None:
        self._reporters = {
            campaign: CampaignReporter(campaign, shared, clock) for campaign, shared in campaigns.items()
        }
        self._activities = [Activity(database) for database in {campaign.database for campaign in campaigns}]
        self._clock, self._stopping = clock, threading.Event()
        # Campaigns of which nothing can be seen now.
        self._blind: set[str] = set()
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Log what is left, and end, after ``seconds`` at the latest."""
        self._stopping.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self.look()
            self._clock.wait(EVENT_SECONDS, self._stopping)
        self.look(at_once=True)

    def look(self, at_once: bool = False) -> None:
        """``at_once``: log about all campaigns, at once."""
        active: set[int] | None = None
        with suppress(LedgerError):  # each reporter says what is wrong
            active = {number for activity in self._activities for number in activity.campaigns()}
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
                    log_lines.line("blind", f"cannot read the progress: {said}", name, alarm=True)
                self._blind.add(name)
