"""Renewals that wait are made together, and each has an answer of its own."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from db import WorkerCampaign
from db.campaign.worker import Extension
from db.errors import LedgerBusy
from db.schema.models import Attempt
from db.states import Role
from jobs.farm.api import renewals
from jobs.farm.api.renewals import PAUSE_SECONDS
from tests.support.asgi import Served
from tests.support.campaigns import NAME, new_campaign, terms_of
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol

WORKERS = "abcdef"
LATER = 240.0
BEARERS = [Role.WORKER, "other"]


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Served]:
    ledger = new_ledger("sqlite", tmp_path)
    made = Served(ledger, new_campaign(ledger, workers=""), {Role.WORKER: Role.WORKER, "other": Role.WORKER})
    for worker in WORKERS:
        enrol(ledger, worker, f"host-{worker}", "1", terms=terms_of(made.tokens[Role.WORKER]))
    yield made
    made.close()


class Held:
    """The first transaction that renews is held until all other renewals wait; how many were made then.

    Attributes:
        made: the attempts of each transaction.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, trouble: Exception | None = None) -> None:
        self.made, self.begun, self.go = list[set[int]](), threading.Event(), threading.Event()
        renew = WorkerCampaign.renew_each

        def held(campaign: WorkerCampaign, renewals: Sequence[Extension]) -> list[set[int]]:
            self.made.append({shown.attempt for each in renewals for shown in each.credentials})
            self.begun.set()
            assert self.go.wait(60)
            if trouble is not None and len(self.made) > 1:
                raise trouble
            return renew(campaign, renewals)

        monkeypatch.setattr(WorkerCampaign, "renew_each", held)

    def answers(self, farm: Served, requests: list[dict[str, Any]], bearers: list[str]) -> list[httpx.Response]:
        """To the first request, and to the others, which come while it is held."""
        transport = httpx.ASGITransport(farm.application)

        async def ask() -> list[httpx.Response]:
            async with httpx.AsyncClient(transport=transport, base_url="http://server", timeout=60) as http:

                def post(request: dict[str, Any], bearer: str) -> asyncio.Task[httpx.Response]:
                    headers = {"Authorization": f"Bearer {farm.tokens[bearer]}"}
                    return asyncio.create_task(
                        http.post(f"/campaigns/{NAME}/renewals", json=request, headers=headers)
                    )

                asked = [post(requests[0], bearers[0])]
                while not self.begun.is_set():
                    await asyncio.sleep(0.01)
                asked += [post(*each) for each in zip(requests[1:], bearers[1:], strict=True)]
                for _ in range(200):  # rounds of the loop: all of them have been read
                    await asyncio.sleep(0)
                self.go.set()
                return list(await asyncio.gather(*asked))

        return asyncio.run(ask())


def leased(farm: Served) -> list[dict[str, Any]]:
    """A renewal of each worker, for a task of its own."""
    renewed = []
    for worker in WORKERS:
        [lease] = farm.campaign.worker.on(terms_of(farm.tokens[Role.WORKER])).lease(worker, 1, 60.0)
        shown = {"attempt": lease.attempt, "nonce": lease.nonce}
        renewed.append({"attempts": [shown], "seconds": LATER, "steps": [[lease.attempt, 3]]})
    return renewed


def running(answers: list[httpx.Response]) -> list[Any]:
    return [answer.json().get("running", answer.status_code) for answer in answers]


def test_those_that_wait_are_made_in_one_transaction(farm: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever their tokens."""
    for bearer in BEARERS:
        farm.ask("GET", "/campaigns/NAME", bearer)  # the token is known
    held, requests = Held(monkeypatch), leased(farm)
    attempts = [request["attempts"][0]["attempt"] for request in requests]
    answers = held.answers(farm, requests, len(requests) // 2 * BEARERS)
    assert running(answers) == [[attempt] for attempt in attempts]
    assert held.made == [{attempts[0]}, set(attempts[1:])]


def test_a_server_makes_ten_transactions_a_second_at_most(farm: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    times, [request, *_], renew = list[float](), leased(farm), WorkerCampaign.renew_each

    def timed(campaign: WorkerCampaign, renewals: Sequence[Extension]) -> list[set[int]]:
        times.append(time.monotonic())
        return renew(campaign, renewals)

    monkeypatch.setattr(WorkerCampaign, "renew_each", timed)
    for _ in range(3):
        assert farm.ask("POST", "/campaigns/NAME/renewals", Role.WORKER, request).json()["running"]
    assert times[2] - times[0] >= PAUSE_SECONDS, "two pauses, except what the thread took longer the first time"


def test_a_wrong_nonce_changes_nothing_beside_the_right_one(farm: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    farm.ask("GET", "/campaigns/NAME")
    held, [request, *others] = Held(monkeypatch), leased(farm)
    [shown], steps = request["attempts"], [[request["attempts"][0]["attempt"], 9]]
    forged = {"attempts": [{**shown, "nonce": "wrong"}], "seconds": 1.0, "steps": steps}
    answers = held.answers(farm, [others[0], request, forged], 3 * [Role.WORKER])
    assert running(answers)[1:] == [[shown["attempt"]], []]
    with farm.ledger.database.reading() as connection:
        found = connection.execute(select(Attempt.steps, Attempt.seconds).where(Attempt.id == shown["attempt"]))
        assert found.all() == [(3, LATER)]


def test_what_workers_say_of_their_tasks_is_kept(farm: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each renewal, though several are made in one transaction."""
    farm.ask("GET", "/campaigns/NAME")
    held, requests = Held(monkeypatch), leased(farm)
    for request in requests:
        request["computed"] = [[request["attempts"][0]["attempt"], 1e-9]]
    held.answers(farm, requests, len(requests) * [Role.WORKER])
    with farm.ledger.database.reading() as connection:
        assert set(connection.execute(select(Attempt.steps, Attempt.computed)).all()) == {(3, 1e-9)}


def test_each_has_its_own_answer(farm: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong nonce, what is no renewal, another time, the same attempt with another token, and no token at all."""
    farm.ask("GET", "/campaigns/NAME")
    farm.ask("GET", "/campaigns/NAME", "other")
    held, requests = Held(monkeypatch), leased(farm)
    attempts = [request["attempts"][0]["attempt"] for request in requests]
    requests[1]["attempts"][0]["nonce"] = "wrong"
    requests[2] = {"seconds": "long"}
    requests[3]["seconds"] = 2 * LATER
    bearers = [*len(requests) * [Role.WORKER], "other"]
    answers = held.answers(farm, [*requests, requests[4]], bearers)
    assert running(answers) == [
        [attempts[0]], [], 400, [attempts[3]], [attempts[4]], [attempts[5]], [attempts[4]]
    ]  # fmt: skip


def test_the_trouble_of_all_is_that_of_each_and_the_next_ones_are_made(
    farm: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    farm.ask("GET", "/campaigns/NAME")
    requests = leased(farm)
    with monkeypatch.context() as away:
        answers = Held(away, LedgerBusy("busy")).answers(farm, requests, len(requests) * [Role.WORKER])
        assert [answer.status_code for answer in answers] == [200, *(len(requests) - 1) * [503]]
    assert farm.ask("POST", "/campaigns/NAME/renewals", Role.WORKER, requests[1]).json()["running"]


def test_no_more_than_some_are_made_together(farm: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    farm.ask("GET", "/campaigns/NAME")
    monkeypatch.setattr(renewals, "MAX_BYTES", 120)  # a body has about 100
    held, requests = Held(monkeypatch), leased(farm)
    answers = held.answers(farm, requests, len(requests) * [Role.WORKER])
    assert all(answer.status_code == 200 for answer in answers)
    assert max(map(len, held.made)) == 2
