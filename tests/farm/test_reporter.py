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
from db.look.overview.records import Happened, Overview, WorkerState
from db.look.overview.shared import Shared
from db.messages import Time
from db.states import Outcome
from jobs.show import log_lines
from jobs.show.reporter import (
    IDLE_SECONDS,
    LOOK_SECONDS,
    PROGRESS_SECONDS,
    REST_SECONDS,
    CampaignReporter,
    Reporter,
)
from tests.support.campaigns import HOUR, KEY, PLAN, TASKS, delivery, finish, forged, new_campaign, true_deliveries
from tests.support.clock import MovableClock
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol


class Reported:
    """A campaign, and the lines about it."""

    def __init__(self, ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
        self.ledger, campaign = ledger, new_campaign(ledger)
        self.campaign, self._clock, self._caplog = campaign, MovableClock(), caplog
        shared = Shared(campaign.reader.overview, now=self._clock.monotonic)
        self._reporter = CampaignReporter(shared, self._clock)

    @property
    def said(self) -> list[str]:
        """The lines since the last call of :meth:`lines` began."""
        return list(self._caplog.messages)

    def lines(self, seconds: float) -> list[str]:
        """Those that are written while these seconds pass."""
        self._caplog.clear()
        while seconds > 0:
            self._reporter.look()
            self._clock.move(step := min(5.0 if seconds > PROGRESS_SECONDS else 1.0, seconds))
            seconds -= step
        return self.said


@pytest.fixture
def reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Reported]:
    caplog.set_level(logging.INFO, log_lines.NAME)
    with new_ledger("sqlite", tmp_path) as ledger:
        yield Reported(ledger, caplog)


def test_progress_is_said_each_minute_and_seldom_while_there_is_none(reported: Reported) -> None:
    nothing = [f"0.0% of the work, 0/{TASKS} tasks, 0 workers, new"]
    assert reported.lines(1) == nothing
    assert reported.lines(IDLE_SECONDS - 1) == []
    assert reported.lines(LOOK_SECONDS) == nothing
    for number, lease in enumerate(reported.campaign.worker.lease("a", 3, HOUR), 1):
        reported.campaign.worker.deliver(true_deliveries([lease]))
        [progress] = [said for said in reported.lines(PROGRESS_SECONDS) if "of the work" in said]
        assert f"{number}/{TASKS} tasks" in progress


def test_a_campaign_is_done_once(reported: Reported) -> None:
    reported.lines(1)
    finish(reported.campaign, "a")
    done = [said for said in reported.lines(2 * LOOK_SECONDS) if said.startswith("done")]
    assert done == [f"done: {TASKS} tasks; `langford result {reported.campaign.name}` prints the count"]
    assert reported.lines(IDLE_SECONDS) == []


def test_events_of_a_kind_are_one_line(reported: Reported) -> None:
    """The warnings that follow from them are said once."""
    campaign = reported.campaign
    late = campaign.worker.lease("a", TASKS, -1.0)
    finish(campaign, "b")
    reported.lines(1)
    campaign.worker.deliver([delivery(lease, forged(lease.index)) for lease in late[:3]])
    conflict, warning, _, _ = reported.lines(LOOK_SECONDS)
    assert conflict.startswith("conflict: task ")
    assert conflict.endswith(" (the newest of 3)")
    assert warning.startswith("3 tasks have results that disagree (")
    campaign.worker.deliver([delivery(lease, forged(lease.index)) for lease in late[3:4]])
    [conflict] = reported.lines(LOOK_SECONDS)
    assert conflict.startswith(f"conflict: task {late[3].index}: ")
    assert "newest" not in conflict


def test_who_failed_at_a_task_and_whose_result_is_wrong_are_named(reported: Reported) -> None:
    campaign = reported.campaign
    reported.lines(1)
    late = campaign.worker.lease("a", TASKS, -1.0)
    for _ in range(3):
        [lease] = campaign.worker.lease("b", 1, HOUR)
        campaign.worker.end([lease], Outcome.FAILED, "it breaks\n\x1b[31m")
    aside, warning = (said for said in reported.lines(LOOK_SECONDS) if "set" in said)
    assert aside.startswith("set-aside: task ")
    assert aside.endswith("by b on host-b (last: it breaks\n\x1b[31m)")
    assert "`langford retry" in warning
    campaign.operator.reopen()
    finish(campaign, "b")
    campaign.worker.deliver([delivery(lease, forged(lease.index)) for lease in late])
    reported.lines(LOOK_SECONDS)
    enrol(reported.ledger, "c", "host-c", "1")
    finish(campaign, "c")
    assert any(said.startswith("distrusted: ") and "host-a" in said for said in reported.lines(LOOK_SECONDS))


def test_an_event_that_is_seen_late_is_said(reported: Reported) -> None:
    """As after a transaction that took long; those before the server are not."""
    late, old = (Happened(Time(reported.campaign.reader.overview().now - age), "conflict", "x") for age in (50, 70))
    seen = reported.campaign.reader.overview()
    clock, looks = MovableClock(), iter([seen, structs.replace(seen, events=(late, old, *seen.events))])
    reporter = CampaignReporter(Shared(lambda: next(looks), now=clock.monotonic), clock)
    reporter.look()
    assert "conflict: x" not in reported.lines(1)
    clock.move(LOOK_SECONDS)
    reporter.look()
    assert reported.said[-1] == "conflict: x"


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
    assert asked_in(REST_SECONDS - 4) == {}
    [lease] = campaigns[2].worker.lease("a", 1, HOUR)
    assert set(asked_in(LOOK_SECONDS + 4)) == {"c1"}
    campaigns[2].worker.deliver(true_deliveries([lease]))
    assert "c1" in asked_in(2 * LOOK_SECONDS)
    assert len(asked_in(REST_SECONDS + LOOK_SECONDS + 1)) == len(campaigns)


def test_a_distrusted_worker_is_not_watched(reported: Reported) -> None:
    clock, campaign = MovableClock(), reported.campaign
    campaign.worker.lease("a", 1, HOUR)
    seen = campaign.reader.overview()
    [worker, *_] = seen.workers
    distrusted = structs.replace(seen, workers=(structs.replace(worker, state=WorkerState.DISTRUSTED),))
    reporter = CampaignReporter(Shared(lambda: distrusted, now=clock.monotonic), clock)
    reporter.look(at_once=True)
    assert reporter.rests
