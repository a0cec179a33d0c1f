"""A token whose workers lease tasks and bring no results gets no more of them, and fills no ledger."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from db import Lease
from db.messages import converted, document
from db.states import Role
from jobs.farm.api import server
from jobs.farm.guard import lease_allowances
from jobs.farm.guard.lease_allowances import LeaseAllowances, TooManyLeases
from tests.support.asgi import Client
from tests.support.campaigns import NAME, TASKS, new_campaign, shown_by, true_deliveries
from tests.support.clock import MovableClock
from tests.support.databases import new_ledger

SPARE = 40
MOST = SPARE + 2 * TASKS
"""Leases of a token that bring no result, here."""
ROUNDS = 60
"""More than enough to reach that."""


class Farm:
    """A server of a campaign, and workers with two tokens."""

    def __init__(self, folder: Path) -> None:
        self.ledger = new_ledger("sqlite", folder)
        self.campaign = new_campaign(self.ledger, workers="")
        self.tokens = [self.campaign.new_token(Role.WORKER) for _ in range(2)]
        for number, token in enumerate(self.tokens):
            for worker in range(3):
                self.ledger.enrol(f"{number}-{worker}", f"host-{number}-{worker}", "1", token=token)
        self.client = Client(server.application(self.ledger, [NAME], server.RateLimit(1e9, 1e9)))

    def post(self, path: str, token: int = 0, **fields: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens[token]}"}
        return self.client.post(f"/campaigns/{NAME}{path}", json=fields, headers=headers)

    def lease(self, token: int = 0, worker: int = 0, seconds: float = 60.0, held: tuple[int, ...] = ()) -> Any:
        asked = {"campaign": self.campaign.uuid, "worker": f"{token}-{worker}", "count": 1000, "copies": 0}
        return self.post("/leases", token, **asked, seconds=seconds, held=list(held))

    def leases(self, **options: Any) -> list[Lease]:
        answer = self.lease(**options)
        return [converted(fields, Lease) for fields in answer.json().get("leases", [])]

    def release(self, leases: list[Lease], token: int = 0) -> None:
        shown = [shown_by(lease) for lease in leases]
        self.post("/releases", token, attempts=shown, outcome="released", note="")

    def deliver(self, leases: list[Lease], token: int = 0) -> None:
        deliveries = [document(each) for each in true_deliveries(leases)]
        assert self.post("/results", token, deliveries=deliveries, now=0).status_code == 200

    @property
    def attempts(self) -> int:
        """How many attempts the ledger has, those that run too."""
        with self.ledger.database.reading() as connection:
            return int(connection.exec_driver_sql("SELECT count(*) FROM attempt").scalar_one())


@pytest.fixture
def farm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Farm]:
    monkeypatch.setattr(lease_allowances, "SPARE", SPARE)
    monkeypatch.setattr(lease_allowances, "SPARE_PER_HOUR", 0)
    made = Farm(tmp_path)
    yield made
    made.client.close()
    made.ledger.close()


def give_back(farm: Farm, worker: int) -> None:
    farm.release(farm.leases(worker=worker))


def forget(farm: Farm, worker: int) -> None:
    """The next request for leases takes these back, since the worker does not name them."""
    farm.leases(worker=worker)


def expire(farm: Farm, worker: int) -> None:
    farm.leases(worker=worker, seconds=0.0)


def repeat_a_result(farm: Farm, worker: int) -> None:
    leases = farm.leases(worker=worker)
    if leases:
        for _ in range(3):
            farm.deliver(leases[-1:])
        farm.release(leases[:-1])


@pytest.mark.parametrize("attack", [give_back, forget, expire, repeat_a_result])
def test_leasing_in_vain_ends(farm: Farm, attack: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        for number in range(ROUNDS):
            attack(farm, number % 3)
        refused = farm.lease()
    results = farm.campaign.progress().attempts.get("done", 0)
    assert farm.attempts <= MOST + lease_allowances.LEASES_PER_RESULT * results
    if results < TASKS:
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) > 0
        assert "the workers with this token had" in refused.json()["error"]
        assert any(f"{NAME}: the workers with this token" in record.getMessage() for record in caplog.records)
        assert farm.attempts > TASKS
    # Another contributor does not notice, and finishes the campaign once the last leases have ended.
    farm.campaign.take_back("as after their deadline")
    while leases := farm.leases(token=1):
        farm.deliver(leases, token=1)
    assert farm.campaign.standing().unfinished == 0


def test_results_and_time_allow_more() -> None:
    clock = MovableClock()
    allowances = LeaseAllowances(100, clock)
    most = lease_allowances.SPARE + 200
    assert allowances.take("t", most - 5) == most - 5
    assert allowances.take("t", 1000) == 5
    with pytest.raises(TooManyLeases, match=f"had {most:,} leases more than their results allow"):
        allowances.take("t", 1)
    assert allowances.take("another", 1) == 1
    allowances.delivered("t", [(3, True), (3, False), (99, True)])
    allowances.delivered("t", [(3, False)])
    assert allowances.take("t", 1000) == 2 * lease_allowances.LEASES_PER_RESULT
    allowances.give_back("t", 7)
    assert allowances.take("t", 1000) == 7
    clock.move(36.0)
    assert allowances.take("t", 1000) == lease_allowances.SPARE_PER_HOUR // 100


def test_workers_that_are_preempted_again_and_again_are_not_hindered() -> None:
    """For a month, a thousand workers give back all that they hold every twenty minutes, and finish every tenth."""
    clock = MovableClock()
    allowances = LeaseAllowances(1_000_000, clock)
    done = 0
    for _ in range(30 * 72):
        assert allowances.take("t", 3_000) == 3_000
        allowances.delivered("t", [(task, True) for task in range(done, done + 300)])
        done += 300
        clock.move(1200.0)


def test_rechecks_again_and_again_are_not_hindered(farm: Farm) -> None:
    """Each lease brings a result, though none is the first one of its task."""
    for _ in range(MOST // TASKS + 3):
        while leases := farm.leases():
            farm.deliver(leases)
        farm.campaign.question()
    assert farm.attempts > MOST
