"""No lease expires because the server was stopped, away or slow while its worker asked in time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.requests import Request

from db import WorkerCampaign
from db.errors import LedgerBusy
from db.states import Outcome, Role
from db.work.tokens import digest
from db.work.transitions import UNHEARD_SECONDS
from jobs.farm.guard.bodies import Bounds
from jobs.farm.guard.bounds import HEARING_SECONDS, MIN_RETRY_SECONDS, SILENCE_SECONDS
from jobs.farm.guard.charges import Payer
from jobs.farm.guard.hearing import Hearing
from jobs.farm.guard.shares import NoTime, Rank, Turns
from tests.support.asgi import Served
from tests.support.campaigns import TASKS, new_campaign, terms_of
from tests.support.clock import MovableClock
from tests.support.database_clock import DatabaseClock, moved_clock
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol

LEASE_SECONDS = 20.0


@pytest.fixture
def clock() -> Iterator[DatabaseClock]:
    with moved_clock() as moved:
        yield moved


def test_whom_a_server_could_not_hear() -> None:
    clock = MovableClock()
    hearing = Hearing(clock)

    def run(seconds: float) -> None:
        for _ in range(int(seconds)):
            clock.move(1.0)
            hearing.sign()

    assert hearing.unheard is None, "it was started: nobody has had the time to ask again"
    run(HEARING_SECONDS + 1)
    assert hearing.unheard == []
    hearing.miss(Payer("site"))
    hearing.miss(Payer.stranger("192.0.2.1"))
    assert hearing.unheard == ["site"]
    run(HEARING_SECONDS + 1)
    assert hearing.unheard == []
    clock.move(SILENCE_SECONDS + 1)
    assert hearing.unheard is None, "it was stopped"
    run(HEARING_SECONDS + 1)
    hearing.miss(None)
    assert hearing.unheard is None, "it had no ledger"


class Hours:
    """Two workers with a token each, and a server whose clock and whose ledger's clock are moved together."""

    def __init__(self, folder: Path, clock: DatabaseClock) -> None:
        self.wall, self._clock = MovableClock(), clock
        ledger = new_ledger("sqlite", folder)
        roles = dict.fromkeys(["site", "other"], Role.WORKER)
        self.farm = Served(ledger, new_campaign(ledger, workers=""), roles, hearing=Hearing(self.wall))
        for name, token in self.farm.tokens.items():
            enrol(ledger, name, f"host-{name}", "1", terms=terms_of(token))
        self.pass_time(HEARING_SECONDS + 1)

    def pass_time(self, seconds: float, runs: bool = True) -> None:
        """``runs``: whether the server does meanwhile."""
        for _ in range(int(seconds) if runs else 1):
            step = 1.0 if runs else seconds
            self.wall.move(step)
            self._clock.move(step)
            if runs:
                self.farm.clients.hearing.sign()

    def lease(self, name: str, count: int = TASKS) -> list[dict[str, object]]:
        fields = {"campaign": self.farm.campaign.uuid, "worker": name, "count": count, "copies": 0, "held": []}
        path = "/campaigns/NAME/leases"
        answer = self.farm.ask("POST", path, name, {**fields, "seconds": LEASE_SECONDS})
        leases: list[dict[str, object]] = answer.json()["leases"]
        assert leases or name == "other"
        return leases

    @property
    def expired(self) -> int:
        """How many leases have expired when the other worker has asked for tasks."""
        self.lease("other")
        return self.farm.campaign.reader.overview().attempts.get(Outcome.EXPIRED, 0)

    def renew(self, name: str, leases: list[dict[str, object]]) -> bool:
        """Whether all of them still ran."""
        shown = [{"attempt": lease["attempt"], "nonce": lease["nonce"]} for lease in leases]
        fields = {"attempts": shown, "seconds": LEASE_SECONDS, "steps": []}
        return len(self.farm.ask("POST", "/campaigns/NAME/renewals", name, fields).json()["running"]) == len(leases)


@pytest.fixture
def hours(tmp_path: Path, clock: DatabaseClock) -> Iterator[Hours]:
    made = Hours(tmp_path, clock)
    yield made
    made.farm.close()


def test_a_lease_expires_that_is_not_renewed(hours: Hours) -> None:
    held = hours.lease("site")
    hours.pass_time(LEASE_SECONDS + 1)
    assert hours.expired == len(held)
    assert not hours.renew("site", held)


def test_none_expires_while_the_server_is_stopped_until_its_worker_has_had_time_to_ask_again(
    hours: Hours,
) -> None:
    """Nor where somebody else asks for tasks first."""
    held = hours.lease("site")
    hours.pass_time(3 * LEASE_SECONDS, runs=False)
    assert hours.expired == 0
    hours.pass_time(HEARING_SECONDS - 1)
    assert hours.expired == 0
    assert hours.renew("site", held)
    hours.pass_time(LEASE_SECONDS + 1)
    assert hours.expired >= len(held)
    assert not hours.renew("site", held)


def test_none_expires_whose_token_was_refused_for_lack_of_time(hours: Hours) -> None:
    """Those of another token do; and a token that is refused for ever does not keep its tasks for ever."""
    held, others = hours.lease("site"), hours.lease("other")
    missing = Payer(digest(hours.farm.tokens["site"]))
    hours.farm.clients.hearing.miss(missing)
    hours.pass_time(LEASE_SECONDS + 1)
    assert hours.expired == len(others) > 0
    assert hours.renew("site", held)
    for _ in range(int(UNHEARD_SECONDS // 60) + 1):
        hours.farm.clients.hearing.miss(missing)
        hours.pass_time(60.0)
    assert hours.expired >= len(held) + len(others)
    assert not hours.renew("site", held)


def test_a_request_without_a_turn_is_answered_503_and_its_token_counts_as_unheard(
    hours: Hours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renewals have their turn before leases, and these before enrolments."""
    held, refused = hours.lease("site"), list[str]()

    async def wait(self: Turns, payer: Payer, rank: Rank) -> None:
        if rank >= Rank.TASKS:
            raise NoTime

    async def receive(self: Bounds, request: Request) -> bytes:
        refused.append(request.url.path)
        return await read(self, request)

    read = Bounds.read
    monkeypatch.setattr(Turns, "wait", wait)
    monkeypatch.setattr(Bounds, "read", receive)
    for path in ("leases", "results", "exchanges", "workers"):
        answer = hours.farm.ask("POST", f"/campaigns/NAME/{path}", "site", {})
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, str(MIN_RETRY_SECONDS))
        assert "no time" in answer.json()["error"]
    assert refused == [], "nothing is read of them"
    assert hours.farm.clients.hearing.unheard == [digest(hours.farm.tokens["site"])]
    assert hours.renew("site", held)


def test_none_expires_because_the_ledger_was_away(hours: Hours, monkeypatch: pytest.MonkeyPatch) -> None:
    held = hours.lease("site")

    def busy(*arguments: object) -> None:
        raise LedgerBusy("busy")

    with monkeypatch.context() as away:
        away.setattr(WorkerCampaign, "renew_each", busy)
        shown = {"attempts": [], "seconds": LEASE_SECONDS, "steps": []}
        assert hours.farm.ask("POST", "/campaigns/NAME/renewals", "site", shown).status_code == 503
        hours.pass_time(LEASE_SECONDS + 1)
    assert hours.expired == 0
    assert hours.renew("site", held)
