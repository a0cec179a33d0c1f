"""When the lines of a server's log about a campaign are written, by a clock that the test moves."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from msgspec import structs

from db import Campaign, Ledger
from db.look.overview.records import Overview, WorkerState
from db.look.overview.shared import Shared
from db.states import Ending, Outcome
from jobs.show import log_lines
from jobs.show.reporter import (
    GATHER_SECONDS,
    IDLE_SECONDS,
    LOOK_SECONDS,
    PAUSE_SECONDS,
    PRESENCE_SECONDS,
    PROGRESS_SECONDS,
    CampaignReporter,
    Reporter,
)
from tests.support.campaigns import HOUR, KEY, PLAN, TASKS, delivery, finish, forged, new_campaign, true_deliveries
from tests.support.clock import MovableClock
from tests.support.database_clock import moved_clock
from tests.support.databases import new_ledger


class Reported:
    """A campaign, and the lines about it."""

    def __init__(self, ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
        self.ledger, campaign = ledger, new_campaign(ledger)
        self.campaign, self._clock, self._caplog = campaign, MovableClock(), caplog
        shared = Shared(campaign.reader.overview, now=self._clock.monotonic)
        self._reporter = CampaignReporter(campaign, shared, self._clock)

    def lines(self, seconds: float) -> Counter[str]:
        """The kinds of the lines that are written while these seconds pass."""
        self._caplog.clear()
        while seconds > 0:
            self._reporter.look()
            self._clock.move(step := min(5.0 if seconds > PROGRESS_SECONDS else 1.0, seconds))
            seconds -= step
        return Counter(record.event for record in self._caplog.records)  # type: ignore[attr-defined]


@pytest.fixture
def reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Reported]:
    caplog.set_level(logging.INFO, log_lines.NAME)
    with new_ledger("sqlite", tmp_path) as ledger:
        yield Reported(ledger, caplog)


def test_progress_is_said_each_minute_and_seldom_while_there_is_none(reported: Reported) -> None:
    assert reported.lines(1) == {"progress": 1}
    assert reported.lines(IDLE_SECONDS - 1) == {}
    assert reported.lines(LOOK_SECONDS) == {"progress": 1}
    for lease in reported.campaign.worker.lease("a", 3, HOUR):
        reported.campaign.worker.deliver(true_deliveries([lease]))
        assert reported.lines(PROGRESS_SECONDS)["progress"] == 1


def test_a_campaign_is_done_once(reported: Reported) -> None:
    reported.lines(1)
    finish(reported.campaign, "a")
    assert reported.lines(LOOK_SECONDS + GATHER_SECONDS + 1)["done"] == 1
    assert reported.lines(IDLE_SECONDS) == {}


def test_conflicts_are_gathered_and_then_said_once_a_minute(reported: Reported) -> None:
    campaign = reported.campaign
    late = campaign.worker.lease("a", TASKS, -1.0)
    finish(campaign, "b")
    reported.lines(PAUSE_SECONDS)

    def conflict() -> None:
        lease = late.pop()
        campaign.worker.deliver([delivery(lease, forged(lease.index))])

    conflict()
    assert reported.lines(1)["conflict"] == 0
    conflict()
    assert reported.lines(GATHER_SECONDS)["conflict"] == 1
    for _ in range(4):
        conflict()
        assert reported.lines(PAUSE_SECONDS / 6)["conflict"] == 0
    assert reported.lines(PAUSE_SECONDS / 3)["conflict"] == 1


def test_who_is_to_blame_for_conflicts_and_a_task_that_is_set_aside_are_named(
    reported: Reported, caplog: pytest.LogCaptureFixture
) -> None:
    campaign = reported.campaign
    reported.lines(1)
    late = campaign.worker.lease("a", TASKS, -1.0)
    for _ in range(3):
        [lease] = campaign.worker.lease("b", 1, HOUR)
        campaign.worker.end([lease], Outcome.FAILED, "it breaks\n\x1b[31m")
    assert reported.lines(GATHER_SECONDS + 1)["set_aside"] == 1
    assert caplog.messages[-1].endswith("by b on host-b (last: it breaks\n\x1b[31m)")
    campaign.operator.reopen()
    finish(campaign, "b")
    campaign.worker.deliver([delivery(lease, forged(lease.index)) for lease in late])
    assert reported.lines(PAUSE_SECONDS)["conflict"] == 1
    [said] = [message for message in caplog.messages if message.startswith("results disagree")]
    assert said.startswith(f"results disagree {TASKS} times, of tasks 0, 1, 2")
    reported.ledger.enrol("c", "host-c", "1")
    finish(campaign, "c")
    assert reported.lines(PAUSE_SECONDS)["distrusted"] == 1
    assert any("host-a" in message for message in caplog.messages)


def test_leases_that_expire_and_a_worker_that_is_lost_leave_a_line(reported: Reported) -> None:
    campaign = reported.campaign
    with moved_clock() as clock:
        leases = campaign.worker.lease("a", 2, HOUR)
        reported.lines(1)
        clock.move(2 * HOUR)
        campaign.worker.lease("b", 1, HOUR)
        lines = reported.lines(LOOK_SECONDS + GATHER_SECONDS + 1)
    assert (lines["worker_left"], lines["leases_expired"], len(leases)) == (1, 1, 2)


def test_workers_that_come_and_go_are_named_soon_and_in_this_order(
    reported: Reported, caplog: pytest.LogCaptureFixture
) -> None:
    """Also a second one, that comes soon after the first, and is gone when its line is due."""
    reported.lines(1)
    for worker in "cd":
        reported.ledger.enrol(worker, f"host-{worker}", "1")
        leases = reported.campaign.worker.lease(worker, 1, HOUR)
        reported.lines(LOOK_SECONDS + GATHER_SECONDS + 1)
        caplog.clear()
    reported.campaign.worker.end(leases)
    reported.ledger.leave("d", Ending.FINISHED)
    lines = reported.lines(LOOK_SECONDS + PRESENCE_SECONDS)
    assert (lines["worker_joined"], lines["worker_left"]) == (1, 1)
    said = [message.split(":")[0] for message in caplog.messages if message.startswith("worker d")]
    assert said == ["worker d on host-d joined", "worker d on host-d left"]


def test_a_worker_that_was_stopped_leaves_a_line(reported: Reported, caplog: pytest.LogCaptureFixture) -> None:
    campaign = reported.campaign
    leases = campaign.worker.lease("a", 2, HOUR)
    reported.lines(1)
    campaign.worker.end(leases, Outcome.PREEMPTED, "SIGTERM", {lease.attempt: 1.0 for lease in leases})
    reported.ledger.leave("a", Ending.PREEMPTED)
    assert reported.lines(LOOK_SECONDS + GATHER_SECONDS + 1)["worker_left"] == 1
    assert "worker a on host-a left: stopped by SIGTERM; it did not finish 2 tasks" in caplog.messages


def test_a_process_that_died_leaves_a_line(reported: Reported, caplog: pytest.LogCaptureFixture) -> None:
    [lease] = reported.campaign.worker.lease("a", 1, HOUR)
    reported.lines(1)
    reported.campaign.worker.end([lease], Outcome.DIED, "signal 9")
    assert reported.lines(LOOK_SECONDS + GATHER_SECONDS + 1)["processes_died"] == 1
    assert "1 process of a worker has died: its task goes back to the queue" in caplog.messages


def test_a_ledger_that_cannot_be_read_is_said_once(reported: Reported, caplog: pytest.LogCaptureFixture) -> None:
    clock = MovableClock()
    reporter = Reporter({reported.campaign: Shared(reported.campaign.reader.overview, now=clock.monotonic)}, clock)

    def look(statement: str) -> None:
        with reported.ledger.database.writing() as connection:
            connection.exec_driver_sql(statement)
        for _ in range(10):
            reporter.look()
            clock.move(1.0)

    look("ALTER TABLE event RENAME TO gone")
    [blind] = caplog.messages
    assert blind.startswith("cannot read the progress: ")
    look("ALTER TABLE gone RENAME TO event")
    assert "0.0% of the work" in caplog.messages[-1]


def test_campaigns_in_which_nothing_happens_are_not_asked(
    reported: Reported, caplog: pytest.LogCaptureFixture
) -> None:
    """Of hundreds on one server few are worked at: one question finds them."""
    clock, ledger = MovableClock(), reported.ledger
    caplog.set_level(logging.INFO, log_lines.NAME)
    campaigns = [
        reported.campaign,
        *(ledger.create_campaign(f"c{number}", KEY, PLAN.work.tolist()) for number in range(3)),
    ]
    asked: Counter[str] = Counter()

    def asking(campaign: Campaign) -> Overview:
        asked[campaign.name] += 1
        return campaign.reader.overview()

    watches = {each: Shared(partial(asking, each), now=clock.monotonic) for each in campaigns}
    reporter = Reporter(watches, clock)

    def asked_in(seconds: float) -> Counter[str]:
        asked.clear()
        for _ in range(round(seconds / 4)):
            reporter.look()
            clock.move(4.0)
        return Counter(asked)

    assert len(asked_in(4)) == len(campaigns)
    assert asked_in(IDLE_SECONDS / 2) == {}
    [lease] = campaigns[2].worker.lease("a", 1, HOUR)
    assert set(asked_in(LOOK_SECONDS + 4)) == {"c1"}
    campaigns[2].worker.deliver(true_deliveries([lease]))
    campaigns[3].operator.cancel()
    assert "c1" in asked_in(2 * LOOK_SECONDS)
    assert len(asked_in(IDLE_SECONDS + LOOK_SECONDS + 1)) == len(campaigns)


def test_a_distrusted_worker_is_not_watched(reported: Reported) -> None:
    clock, campaign = MovableClock(), reported.campaign
    campaign.worker.lease("a", 1, HOUR)
    seen = campaign.reader.overview()
    [worker, *_] = seen.workers
    distrusted = structs.replace(seen, workers=(structs.replace(worker, state=WorkerState.DISTRUSTED),))
    reporter = CampaignReporter(campaign, Shared(lambda: distrusted, now=clock.monotonic), clock)
    reporter.look(at_once=True)
    assert reporter.rests
