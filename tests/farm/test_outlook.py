"""What a worker shows of the whole campaign: asked seldom, and no matter for the work."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from db import Ledger
from db.files.messages import Time
from db.look.overview import Eta, Overview
from jobs.farm.worker import outlook
from jobs.farm.worker.outlook import Outlook
from jobs.farm.worker.requests import ServerAway
from tests.support.campaigns import HOUR, new_campaign, true_deliveries
from tests.support.clock import MovableClock


@pytest.fixture
def overview(tmp_path: Path) -> Iterator[Overview]:
    with Ledger(str(tmp_path / "ledger.db"), create=True) as ledger:
        campaign = new_campaign(ledger)
        campaign.deliver(true_deliveries(campaign.lease("a", 4, HOUR)))
        made = campaign.overview()
        yield replace(made, eta=Eta(100.0, Time(made.now + 90), Time(made.now + 110)))


def test_it_is_asked_once_a_minute_by_each_worker(overview: Overview) -> None:
    clock, asked = MovableClock(), list[float]()

    def ask() -> Overview:
        asked.append(clock.monotonic())
        return overview

    seen = Outlook(ask, clock)
    assert (seen.tasks_done, seen.share_done, seen.seconds_left) == (0, 0.0, None)
    for _ in range(600):
        seen.refresh()
        clock.move(1)
    assert 10 <= len(asked) <= 20
    assert all(30 <= later - earlier <= 61 for earlier, later in itertools.pairwise(asked))
    assert seen.tasks_done == 4
    assert 0 < seen.share_done < 1
    assert seen.seconds_left == pytest.approx(100.0 - (clock.monotonic() - asked[-1]))


def test_a_server_without_an_answer_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlook, "OUTLOOK_SECONDS", 0.0)

    def ask() -> Overview:
        raise ServerAway("an earlier version has no status")

    seen = Outlook(ask)
    for _ in range(3):
        seen.refresh()
    assert (seen.tasks_done, seen.share_done, seen.seconds_left) == (0, 0.0, None)
