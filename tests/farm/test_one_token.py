"""One token stops nobody: what its bearer holds, reports and claims, with invented workers and hosts."""

from __future__ import annotations

import json
import logging
import random
import re
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from sqlalchemy import func, select
from starlette.requests import Request

from db import Credential, Lease, Ledger
from db.errors import LedgerBusy, TooManyLeases
from db.look.overview.records import WarningKind, WorkerState
from db.look.overview.warnings import MANY_LEASES, MANY_SECONDS, RESTING_SECONDS
from db.messages import converted, document
from db.records import TokenRecord
from db.schema.models import Attempt, Event
from db.states import EventKind, Role, TaskState
from db.work import accounts
from db.work.accounts import COUNT_SECONDS, MAX_UNPROVEN, PER_PROCESS, PER_RESULT, RUN_SECONDS, SPARE, Account
from db.work.deadlines import UNKNOWN_SECONDS
from db.work.leases import COPY_SECONDS
from db.work.presence import PRESENCE_SECONDS
from db.work.tokens import digest
from db.work.usage import FREE_SHARE
from jobs.farm.api.usage import EVERY_SECONDS, Usage, written
from jobs.farm.guard.bodies import Bounds
from jobs.farm.guard.door import Guest
from jobs.farm.guard.limits import RateLimit
from jobs.farm.guard.shares import Payer
from jobs.reach.wire import HEADER
from jobs.show.notifications import STALLED_SECONDS, NotifiableFacts
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from tests.support.asgi import Served
from tests.support.campaigns import HOUR, delivery, shown_by, terms_of, with_token
from tests.support.cases import exhaustive
from tests.support.clock import MovableClock
from tests.support.database_clock import DatabaseClock, moved_clock
from tests.support.databases import ledger_of_a_test, new_ledger

KEY, COUNT = PlanKey(Problem.langford(11), "polyphase", 12), 17_792
PLAN = plan_of(KEY)
TASKS = len(PLAN.work)
SHARE = TASKS // 4
"""The most that a token without results holds while others are present."""
NAME, LIAR, HONEST, OTHER = "eleven", "liar", "honest", "other"
HUGE = 10**6


class Bearers(Served):
    """A server of a campaign, and those who have tokens: workers of the liar are on whatever hosts they say."""

    def __init__(self, ledger: Ledger) -> None:
        campaign = ledger.create_campaign(NAME, KEY, PLAN.work.tolist())
        super().__init__(ledger, campaign, dict.fromkeys([LIAR, HONEST], Role.WORKER), limit=RateLimit(1e9, 1e9))

    def join(self, name: str) -> str:
        """Give one more a token, without a label."""
        self.tokens[name] = self.campaign.new_token(Role.WORKER)
        return name

    def post(self, path: str, token: str, **fields: Any) -> Any:
        return self.ask("POST", f"/campaigns/NAME{path}", token, fields)

    def enrol(self, worker: str, token: str = LIAR, processes: int = HUGE, host: str = "") -> str:
        self.ledger.enrol(
            worker, host or f"host-{worker}", "1", terms=terms_of(self.tokens[token]), processes=processes
        )
        return worker

    def ask_for_tasks(
        self,
        worker: str,
        token: str = LIAR,
        seconds: float = 86_400.0,
        copies: int = 0,
        count: int = 1000,
        held: Collection[int] = range(10_000),
    ) -> Any:
        asked = {"campaign": self.campaign.uuid, "worker": worker, "count": count, "copies": copies}
        return self.post("/leases", token, **asked, seconds=seconds, held=list(held))

    def lease(self, worker: str, token: str = LIAR, **options: Any) -> list[Lease]:
        answer = self.ask_for_tasks(worker, token, **options)
        assert answer.status_code in (200, 429), answer.text
        return [converted(fields, Lease) for fields in answer.json().get("leases", [])]

    def renew(self, held: list[Lease], steps: int | None = None, token: str = LIAR) -> list[int]:
        shown = [shown_by(lease) for lease in held]
        made = [] if steps is None else [[lease.attempt, steps] for lease in held]
        return self.post("/renewals", token, attempts=shown, seconds=86_400.0, steps=made).json()["running"]

    def end(self, path: str, lease: Lease, token: str = LIAR) -> bool:
        shown = shown_by(lease)
        return bool(self.post(path, token, **shown, reason="boom").json()["set_aside"])

    def deliver(self, held: list[Lease], token: str = HONEST, seconds: float = 0.5) -> None:
        done = [delivery(lease, PLAN.evaluate(lease.index), seconds) for lease in held]
        deliveries = [document(each) for each in done]
        assert self.post("/results", token, deliveries=deliveries, now=0).status_code == 200

    def work(self, worker: str = "good", token: str = HONEST, copies: int = 8) -> int:
        """Let an honest worker do all that it gets; the number of tasks."""
        done = 0
        while held := self.lease(worker, token, seconds=120.0, copies=copies, count=8):
            self.deliver(held, token)
            done += len(held)
        return done

    def held(self) -> dict[str, int]:
        """How many leases run, by worker."""
        running = select(Attempt.worker_id, func.count()).where(Attempt.ended.is_(None)).group_by(Attempt.worker_id)
        with self.ledger.database.reading() as connection:
            return dict(connection.execute(running).all())

    def liar(self) -> TokenRecord:
        """What the operator reads about the liar's token."""
        return next(token for token in self.campaign.tokens() if token.label == LIAR)

    def rows(self, table: type[Attempt] | type[Event]) -> int:
        with self.ledger.database.reading() as connection:
            return connection.scalar(select(func.count()).select_from(table)) or 0

    def warnings(self) -> str:
        return "\n".join(warning.text for warning in self.campaign.overview().warnings)


@pytest.fixture
def clock() -> Iterator[DatabaseClock]:
    with moved_clock() as moved:
        yield moved


BOTH = pytest.mark.parametrize("farm", ["sqlite", *exhaustive(["postgres"])], indirect=True)
"""For tests that together run each statement of this file on Postgres; the others run the same ones."""


@pytest.fixture
def farm(request: pytest.FixtureRequest, tmp_path: Path, clock: DatabaseClock) -> Iterator[Bearers]:
    with ledger_of_a_test(getattr(request, "param", "sqlite"), tmp_path) as ledger:
        made = Bearers(ledger)
        yield made
        made.client.close()


# -- holding --------------------------------------------------------------------------------------


@BOTH
def test_a_token_without_results_holds_a_share_and_others_do_the_rest(farm: Bearers, clock: DatabaseClock) -> None:
    good = farm.enrol("good", HONEST, processes=8)
    one, other = farm.enrol("one"), farm.enrol("other")
    held = [*farm.lease(one), *farm.lease(other)]
    assert sum(farm.held().values()) == len(held) == SHARE
    refused = farm.ask_for_tasks(other)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert f"hold {SHARE} tasks and have delivered 0 results" in refused.json()["error"]
    assert farm.work(good) == TASKS - SHARE
    # What is held is copied, however often it is renewed, and whatever steps are claimed.
    clock.move(COPY_SECONDS + COUNT_SECONDS)
    assert farm.renew(held, steps=1) == sorted(lease.attempt for lease in held)
    assert farm.lease(other, copies=1000) == []
    assert farm.work(good) == SHARE
    assert farm.campaign.merged().published == COUNT


@BOTH
def test_a_token_that_comes_first_and_copies_its_own_tasks_keeps_them_from_nobody(
    farm: Bearers, clock: DatabaseClock
) -> None:
    """While nobody else is present a token may hold all tasks: others get copies of them."""
    one, other = farm.enrol("one"), farm.enrol("other")
    held = farm.lease(one)
    clock.move(COPY_SECONDS + COUNT_SECONDS)
    copies = farm.lease(other, copies=1000)
    assert (len(held), len(copies)) == (TASKS, TASKS)
    good = farm.enrol("good", HONEST, processes=8)
    farm.renew([*held, *copies], steps=7)
    assert farm.work(good) == TASKS
    assert farm.campaign.merged().published == COUNT


@pytest.mark.parametrize("farm", ["postgres"], indirect=True)
def test_requests_at_the_same_moment_hold_no_more(farm: Bearers, monkeypatch: pytest.MonkeyPatch) -> None:
    """On SQLite one transaction waits for the other."""
    counted, met = accounts.counted, threading.Barrier(2, timeout=60)
    farm.enrol("good", HONEST)
    readers = set[int]()

    def read(*arguments: Any) -> Account:
        account = counted(*arguments)
        if threading.get_ident() not in readers:
            readers.add(threading.get_ident())
            met.wait()
        return account

    def ask(worker: str) -> None:
        with suppress(TooManyLeases):
            with_token(farm.campaign, farm.tokens[LIAR]).lease(worker, TASKS, HOUR)

    monkeypatch.setattr(accounts, "counted", read)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(ask, [farm.enrol("one"), farm.enrol("other")]))
    assert len(readers) == 2
    assert sum(farm.held().values()) == SHARE


def test_what_a_worker_states_bounds_what_its_token_holds(farm: Bearers) -> None:
    farm.enrol("small", processes=2)
    assert len(farm.lease("small")) == 2 * PER_PROCESS
    farm.start()  # its account is in the ledger
    assert farm.ask_for_tasks("small").status_code == 429


def test_a_worker_whose_leases_expired_gets_others(farm: Bearers, clock: DatabaseClock) -> None:
    farm.enrol("small", processes=1)
    assert farm.lease("small", seconds=10.0)
    clock.move(11.0)  # lost, until it asks again
    assert len(farm.lease("small", seconds=10.0)) == PER_PROCESS


def test_no_second_copy_of_what_is_computed(farm: Bearers, clock: DatabaseClock) -> None:
    """Both holders have other tokens, and make steps."""
    third = farm.join(OTHER)
    farm.enrol("one")
    held = farm.lease("one")
    clock.move(COPY_SECONDS + COUNT_SECONDS)
    farm.enrol("good", HONEST, processes=3)
    copies = farm.lease("good", HONEST, copies=3)
    assert len(copies) == 3
    clock.move(COPY_SECONDS + COUNT_SECONDS)
    farm.renew([lease for lease in held if lease.index in {copy.index for copy in copies}], steps=5)
    farm.enrol("third", third, processes=TASKS)
    others = farm.lease("third", third, copies=1000)
    assert not {lease.index for lease in others} & {lease.index for lease in copies}


def test_two_tokens_keep_tasks_no_longer_than_tasks_take(farm: Bearers, clock: DatabaseClock) -> None:
    """One has the tasks, the other the copies, and both claim steps."""
    farm.join(OTHER)
    held = farm.lease(farm.enrol("one"))
    clock.move(COPY_SECONDS + COUNT_SECONDS)
    copies = farm.lease(farm.enrol("two", OTHER), OTHER, copies=1000)
    assert (len(held), len(copies)) == (TASKS, SHARE)
    farm.enrol("good", HONEST, processes=8)
    for step, done in ((1, TASKS - SHARE), (2, SHARE)):
        clock.move(UNKNOWN_SECONDS / 2 + 1)
        assert farm.renew(held, step)
        assert farm.renew(copies, step, OTHER)
        assert farm.work() == done


def test_a_recheck_is_kept_from_others_no_longer_than_tasks_take(farm: Bearers, clock: DatabaseClock) -> None:
    farm.campaign.raise_share(1.0)
    farm.join(OTHER)
    farm.enrol("first", OTHER, processes=8)
    assert farm.work("first", OTHER) == TASKS
    held = farm.lease(farm.enrol("one"))
    other = farm.enrol("other")
    farm.enrol("good", HONEST, processes=8)
    for step, done in enumerate([TASKS - SHARE, 0, SHARE]):
        clock.move(UNKNOWN_SECONDS / 2 + 1 if step else 0)
        assert farm.renew(held, step)
        assert not step or farm.lease(other) == []
        assert farm.work() == done
    assert farm.campaign.merged().published == COUNT


@pytest.mark.parametrize("tokens", [1, 2])
def test_who_gives_tasks_back_and_gets_them_again_keeps_them_from_nobody(
    farm: Bearers, clock: DatabaseClock, tokens: int
) -> None:
    """A worker that knows of no lease gets new ones for its tasks by one request, in which nobody comes between."""
    farm.join(OTHER)
    farm.enrol("good", HONEST, processes=8)
    liars = [(farm.enrol("one"), LIAR), (farm.enrol("two", OTHER), OTHER)][:tokens]
    held = [lease for worker, token in liars for lease in farm.lease(worker, token, held=[])]
    done = farm.work()
    assert done + len(held) == TASKS
    for _ in range(5):
        clock.move(COPY_SECONDS / 2)
        for worker, token in liars:
            farm.lease(worker, token, held=[], copies=1000)
        done += farm.work()
    assert done == TASKS
    assert farm.campaign.merged().published == COUNT


@BOTH
def test_who_gives_rechecks_back_and_gets_them_again_keeps_them_from_nobody(
    farm: Bearers, clock: DatabaseClock
) -> None:
    farm.campaign.raise_share(1.0)
    farm.join(OTHER)
    farm.enrol("first", OTHER, processes=8)
    farm.work("first", OTHER)
    liar = farm.enrol("one")
    assert len(farm.lease(liar, held=[])) == SHARE
    farm.enrol("good", HONEST, processes=8)
    done = farm.work()
    for _ in range(3):
        clock.move(UNKNOWN_SECONDS / 2)
        assert len(farm.lease(liar, held=[])) <= SHARE
        done += farm.work()
    assert done == TASKS
    assert farm.campaign.merged().published == COUNT


def test_a_worker_that_joins_gets_tasks_at_once(farm: Bearers) -> None:
    assert len(farm.lease(farm.enrol("small", processes=1))) == PER_PROCESS
    assert len(farm.lease(farm.enrol("late", processes=2))) == 2 * PER_PROCESS


@BOTH
def test_a_lease_lasts_as_long_as_tasks_take_unless_it_makes_steps(farm: Bearers, clock: DatabaseClock) -> None:
    farm.enrol("one")
    resting, busy = farm.lease("one", count=1), farm.lease("one", count=1)
    with farm.ledger.database.reading() as connection:
        assert connection.scalar(select(func.max(Attempt.deadline - Attempt.granted))) < UNKNOWN_SECONDS + 1
    clock.move(UNKNOWN_SECONDS - 1)
    farm.renew([*resting, *busy], steps=5)
    clock.move(UNKNOWN_SECONDS - 1)
    farm.renew(resting, steps=5)
    farm.renew(busy, steps=6)
    clock.move(2)
    farm.enrol("good", HONEST, processes=1)
    farm.lease("good", HONEST, count=1)
    assert farm.held()["one"] == 1
    assert farm.renew([*resting, *busy]) == [busy[0].attempt]


@BOTH
def test_revoking_a_token_ends_its_leases(farm: Bearers) -> None:
    farm.enrol("one")
    farm.enrol("good", HONEST)
    farm.lease("one", count=1)
    farm.lease("good", HONEST, count=1)
    number = next(token.token_id for token in farm.campaign.tokens() if token.label == "liar")
    assert farm.campaign.revoke(number)
    assert farm.held() == {"good": 1}
    farm.enrol("last", farm.join(OTHER))
    farm.lease("last", OTHER, count=1)
    farm.campaign.revoke()
    assert farm.held() == {}
    assert farm.campaign.standing().tasks == {TaskState.READY: TASKS}


def test_a_token_that_is_revoked_while_its_request_arrives_does_nothing(farm: Bearers) -> None:
    """It was valid when the headers arrived."""
    farm.enrol("one", processes=1)
    [lease] = farm.lease("one", count=1)
    done = document(delivery(lease, PLAN.evaluate(lease.index)))
    asked = {"campaign": farm.campaign.uuid, "worker": "one", "count": 9, "seconds": 9.0, "held": [], "copies": 0}
    numbers = {token.label: token.token_id for token in farm.campaign.tokens()}
    for token, path, request in (
        (HONEST, "/results", {"deliveries": [done], "now": 0}),
        (LIAR, "/leases", asked),
    ):
        text, number = json.dumps(request).encode(), numbers[token]

        async def slowly(text: bytes = text, number: int = number) -> AsyncIterator[bytes]:
            yield text[:1]
            farm.campaign.revoke(number)
            yield text[1:]

        headers = {"Authorization": f"Bearer {farm.tokens[token]}"}
        refused = farm.client.post(f"/campaigns/{NAME}{path}", content=slowly(), headers=headers)
        assert (refused.status_code, "was revoked" in refused.text) == (403, True), refused.text
    assert farm.held() == {}
    assert farm.campaign.standing().tasks == {TaskState.READY: TASKS}


def kinds(farm: Bearers) -> list[WarningKind]:
    return [warned.kind for warned in farm.campaign.overview().warnings if "--revoke 1" in warned.text]


def test_a_token_that_renews_once_and_is_not_seen_again_is_reported(farm: Bearers, clock: DatabaseClock) -> None:
    """Though it has made a step: its leases last for an hour."""
    moved = MovableClock()
    farm.enrol("one", processes=2**31 - 1)
    held = farm.lease("one")
    farm.renew(held, steps=1)
    facts = NotifiableFacts(farm.campaign, 60.0, moved)
    assert facts.now(at_once=True) == []
    for passed, expected, state in (
        (RESTING_SECONDS - 10, [], WorkerState.WORKING),
        (20, [WarningKind.TOKEN], WorkerState.SILENT),
    ):
        clock.move(passed)
        moved.move(passed)
        assert kinds(farm) == expected
        assert [worker.state for worker in farm.campaign.overview().workers] == [state]
        assert [fact.kind for fact in facts.now(at_once=True)] == ["stalled"] * len(expected)


def test_a_token_that_costs_much_and_brings_nothing_is_reported(farm: Bearers) -> None:
    """Though it holds nothing: it takes leases and gives them back."""
    farm.enrol("one")
    rounds = -(-MANY_LEASES // TASKS)
    for place in range(rounds):
        assert kinds(farm) == []
        held = farm.lease("one", held=[])
        assert len(held) == TASKS, place
    [lease, *others] = held
    farm.end("/failures", lease)
    farm.post("/releases", LIAR, attempts=[shown_by(each) for each in others], outcome="released", note="")
    assert kinds(farm) == [WarningKind.TOKEN]
    liar, honest = farm.campaign.tokens()
    assert (liar.workers, liar.leases, liar.held, liar.results, liar.failures) == (1, rounds * TASKS, 0, 0, 1)
    assert liar.spent >= MANY_LEASES
    assert liar.refused == 0
    farm.enrol("honest-one", HONEST)
    forge(farm, "one")
    assert farm.liar().refused == 6
    assert (honest.workers, honest.leases, honest.spent) == (0, 0, 0)
    # Earlier versions know no such kind.
    reader = {"Authorization": f"Bearer {farm.tokens[LIAR]}", HEADER: "1.1"}
    told = farm.client.get(f"/campaigns/{NAME}/status", headers=reader).json()["warnings"]
    assert [warned["kind"] for warned in told] == ["no_workers"]


@BOTH
def test_a_token_that_takes_the_server_and_brings_nothing_is_reported(farm: Bearers, clock: DatabaseClock) -> None:
    """By the processor time of its requests, which results and time pay for, in its own account alone."""
    clock.stop()
    charges = farm.clients.charges
    usage = Usage(farm.ledger, charges)
    liar, honest = (Payer(digest(token)) for token in farm.tokens.values())
    farm.deliver(farm.lease(farm.enrol("good", HONEST, processes=8), HONEST, count=8))
    usage.write()
    unused, used = (record.used for record in farm.campaign.tokens())
    assert unused == 0.0 < used
    charges.add(Payer.stranger("192.0.2.1"), 1e6)
    for seconds, expected in ((MANY_SECONDS - 1, []), (2.0, [WarningKind.TOKEN])):
        charges.add(liar, seconds)
        charges.add(honest, seconds / 10)
        usage.write()
        assert kinds(farm) == expected
    first, second = farm.campaign.tokens()
    assert first.used == pytest.approx(MANY_SECONDS + 1)
    assert first.share == pytest.approx(first.used / (first.used + second.used))
    assert (
        "costs more than its results pay for (0 results; in excess: 61 s of the server's processor)"
        in farm.warnings()
    )
    assert "token 2" not in farm.warnings()
    clock.move(1.5 / FREE_SHARE)
    assert kinds(farm) == []


def test_results_pay_for_the_time_of_the_server(farm: Bearers) -> None:
    usage = Usage(farm.ledger, farm.clients.charges)
    farm.clients.charges.add(Payer(digest(farm.tokens[HONEST])), MANY_SECONDS + 1)
    usage.write()
    assert "--revoke 2" in farm.warnings()
    held = farm.lease(farm.enrol("good", HONEST, processes=8), HONEST, count=8)
    farm.deliver(held)
    assert "--revoke 2" not in farm.warnings()


def test_what_was_used_is_written_when_the_ledger_answers_again(
    farm: Bearers, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage, payer = Usage(farm.ledger, farm.clients.charges), Payer(digest(farm.tokens[LIAR]))
    with monkeypatch.context() as away:
        away.setattr(farm.ledger, "charge", Mock(side_effect=LedgerBusy("busy")))
        for _ in range(2):
            farm.clients.charges.add(payer, 1.0)
            with pytest.raises(LedgerBusy):
                usage.write()
    usage.write()
    usage.write()
    assert farm.liar().used == pytest.approx(2.0)


def test_a_server_writes_what_was_used_and_the_rest_when_it_ends(farm: Bearers) -> None:
    charges, payer, clock = farm.clients.charges, Payer(digest(farm.tokens[LIAR])), MovableClock()
    with written(farm.ledger, charges, clock):
        charges.add(payer, 1.0)
        assert farm.liar().used == 0.0
        clock.move(EVERY_SECONDS)
        while not farm.liar().used:
            pass
        charges.add(payer, 1.0)
    assert farm.liar().used == pytest.approx(2.0)


def test_a_body_is_charged_to_its_token_before_it_is_read(farm: Bearers, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a new connection too: strangers have used little, so that their bodies would go before all leases."""
    farm.enrol("liar-one")
    payers = []
    read = Bounds.read

    async def noting(self: Bounds, request: Request) -> bytes:
        payers.append(guest.payer)
        return await read(self, request)

    monkeypatch.setattr(Bounds, "read", noting)
    for _ in range(2):
        guest = Guest(("127.0.0.1", 123))  # as httpx says
        farm.clients.door.arrive(guest)
        farm.lease("liar-one")
    assert payers == 2 * [Payer(digest(farm.tokens[LIAR]))]


@BOTH
def test_the_operator_reads_who_holds_what(farm: Bearers, clock: DatabaseClock) -> None:
    farm.enrol("liar-one")
    held = farm.lease("liar-one")
    moved = MovableClock()
    facts = NotifiableFacts(farm.campaign, STALLED_SECONDS, moved)
    assert facts.now(at_once=True) == []
    for _ in range(8):
        clock.move(UNKNOWN_SECONDS / 8)
        moved.move(UNKNOWN_SECONDS / 8)
        farm.renew(held)
    assert f"{TASKS} by liar-one on host-liar-one, token 1 'liar'" in farm.warnings()
    assert "--revoke 1" in farm.warnings()
    [stalled] = facts.now(at_once=True)
    assert stalled.kind == "stalled"
    assert "token 1 'liar'" in farm.campaign.holders_in_words()


@BOTH
def test_a_token_that_rests_is_reported_after_five_minutes(farm: Bearers, clock: DatabaseClock) -> None:
    farm.enrol("one")
    farm.lease("one", count=1)
    clock.move(150)  # the clock runs besides
    assert "without delivering a result" not in farm.warnings()
    clock.move(151)
    assert re.search(r"token 1 has leased tasks for \d+ min.* without delivering a result", farm.warnings())
    assert f"`langford token {NAME} --revoke 1` ends their leases" in farm.warnings()


@pytest.mark.parametrize(("scheme", "status"), [("Bearer", 200), ("bearer", 200), ("BEARER", 200), ("Basic", 401)])
def test_the_scheme_of_a_token_has_no_case(farm: Bearers, scheme: str, status: int) -> None:
    headers = {"Authorization": f"{scheme} {farm.tokens[HONEST]}"}
    assert farm.client.get(f"/campaigns/{NAME}", headers=headers).status_code == status


# -- setting aside --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("farm", "path"),
    [("sqlite", "/failures"), ("sqlite", "/deaths"), *exhaustive([("postgres", "/deaths")])],
    indirect=["farm"],
)
def test_one_token_sets_no_task_aside_while_another_is_present(farm: Bearers, path: str) -> None:
    farm.enrol("good", HONEST, processes=8)
    for number in range(4):
        worker = farm.enrol(f"liar-{number}")
        for _ in range(4):
            assert not any(farm.end(path, lease) for lease in farm.lease(worker, count=3))
    assert farm.work() == TASKS
    assert farm.campaign.merged().published == COUNT


@BOTH
def test_what_one_token_alone_sets_aside_is_named_and_tried_again(farm: Bearers, clock: DatabaseClock) -> None:
    def complain() -> int:
        return sum(farm.end("/failures", lease) for _ in range(3) for lease in farm.lease("liar-one", count=9))

    farm.enrol("liar-one")
    assert 0 < complain() <= TASKS
    assert "by liar-one on host-liar-one, token 1 'liar'" in farm.warnings()
    farm.enrol("good", HONEST, processes=8)
    assert farm.campaign.reopen() > 0
    clock.move(COUNT_SECONDS)
    assert complain() == 0
    assert farm.work() == TASKS


@BOTH
@pytest.mark.parametrize(("completed", "has_say"), [(2, True), (3, False)])
def test_a_voter_whose_tasks_others_complete_loses_its_say(
    farm: Bearers, clock: DatabaseClock, completed: int, has_say: bool
) -> None:
    """Two tokens could set tasks aside; after three that others complete, they cannot."""
    farm.join(OTHER)
    farm.enrol("one", host="x")
    farm.enrol("two", OTHER, host="y")
    farm.enrol("good", HONEST, processes=8)
    tried = {lease.index: lease for lease in farm.lease("one", count=completed)}
    for lease in tried.values():
        farm.end("/failures", lease)
    farm.deliver([lease for lease in farm.lease("good", HONEST, count=8) if lease.index in tried])
    clock.move(COUNT_SECONDS)
    first = farm.lease("one", count=1)
    for _ in range(2):
        farm.end("/failures", first[0])
        first = farm.lease("one", count=1)
    farm.end("/failures", first[0])
    [again] = farm.lease("two", OTHER, count=1)
    assert again.index == first[0].index
    assert farm.end("/failures", again, OTHER) is has_say


def fail_three_times(farm: Bearers, worker: str) -> bool:
    """Whether the task that a worker gets is set aside then."""
    for _ in range(2):
        [lease] = farm.lease(worker, count=1)
        assert not farm.end("/failures", lease)
    [lease] = farm.lease(worker, count=1)
    return farm.end("/failures", lease)


@BOTH
@pytest.mark.parametrize("host", ["x", "y"])
def test_of_workers_with_one_token_another_host_tries_a_task_first(farm: Bearers, host: str) -> None:
    farm.enrol("one", host="x")
    farm.enrol("two", host=host)
    assert fail_three_times(farm, "one") is (host == "x")


def test_four_of_those_that_complained_are_named(farm: Bearers) -> None:
    for k in range(6):
        worker = farm.enrol(f"w{k}", host="x")
        assert fail_three_times(farm, worker)
    [warning] = [text for text in farm.warnings().splitlines() if "set aside" in text]
    assert warning.count(" on x") == 4
    assert " and 2 more" in warning


# -- what stays in the ledger ---------------------------------------------------------------------


def give_back(farm: Bearers, worker: str) -> None:
    shown = [shown_by(lease) for lease in farm.lease(worker)]
    farm.post("/releases", LIAR, attempts=shown, outcome="released", note="")


def expire(farm: Bearers, worker: str) -> None:
    farm.lease(worker, seconds=0.0)


def forge(farm: Bearers, worker: str) -> None:
    [real] = farm.lease("honest-one", HONEST, count=1) or [Lease(1, "x", 0, 1.0, False)]
    fake = delivery(Credential(real.attempt, "forged"), PLAN.evaluate(real.index))
    farm.post("/results", LIAR, deliveries=[document(fake)] * 6, now=0)


@pytest.mark.parametrize(
    ("farm", "attack"),
    [("sqlite", give_back), *exhaustive([("sqlite", expire), ("sqlite", forge), ("postgres", forge)])],
    indirect=["farm"],
)
def test_what_brings_no_result_is_bounded_over_restarts(
    farm: Bearers,
    clock: DatabaseClock,
    attack: Callable[[Bearers, str], None],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(accounts, "SPARE", 20)
    farm.enrol("honest-one", HONEST, processes=100)
    workers = [farm.enrol(f"liar-{number}") for number in range(3)]
    for number in range(30):
        attack(farm, workers[number % 3])
        clock.move(COUNT_SECONDS)
        if number % 10 == 0:
            farm.start()
    most = 20 + 2 * TASKS
    paid = 30 * COUNT_SECONDS * (20 / 3600 + TASKS / RUN_SECONDS)  # while others idle, time allows some more
    assert farm.rows(Attempt) <= most + paid + 30
    refused = EventKind.REFUSED
    with farm.ledger.database.reading() as connection:
        assert connection.scalar(select(func.count()).where(Event.kind == refused)) <= most + paid
    with caplog.at_level(logging.INFO):
        answer = farm.ask_for_tasks(workers[0])
    assert answer.status_code == 429
    assert "more than their results allow" in answer.json()["error"]
    assert any(f"{NAME}: the workers with this token" in record.getMessage() for record in caplog.records)
    farm.campaign.take_back("as after their deadline")
    farm.work("honest-one")
    assert farm.campaign.standing().unfinished == 0


def farm_day(account: Account, nodes: int, each: int, life: float, task: float) -> tuple[int, int]:
    """(leases, results) of a day of a farm whose nodes are preempted, with one token; fails when it is refused.

    ``life``: mean seconds of a node, ``task``: seconds of a task.
    """
    rng, leases_had, results, step = random.Random(3), 0, 0, 60.0
    ages = [[0.0] * each for _ in range(nodes)]
    leases_had = nodes * each
    for second in range(0, 86_400, int(step)):
        account = account.counted_at(float(second), nodes * each, nodes * each, shares=False)
        wanted = brought = 0
        for node in ages:
            dies = rng.random() < step / life
            for slot in range(each):
                node[slot] += step
                if dies or node[slot] >= task:
                    brought += not dies
                    wanted += 1
                    node[slot] = 0.0
        account = replace(
            account,
            leases=max(0.0, account.leases - account.paid - PER_RESULT * brought) + wanted,
            results=account.results + brought,
            paid=0.0,
        )
        assert account.spare > 0, f"starves after {second} s"
        leases_had, results = leases_had + wanted, results + brought
    return leases_had, results


def test_a_farm_that_is_preempted_is_not_hindered() -> None:
    """Nodes of 64 tasks with a mean life of 300 s, and tasks of 900 s: less than 1 lease in 10 brings a result."""
    done, results = farm_day(Account("", 100_000, 0.0, 0, 0, 0, None), 20, 64, 300.0, 900.0)
    assert done > 10 * results > 0


def test_an_account_is_paid_by_results_and_time() -> None:
    account = Account("", 100, 0.0, 0, 0, 0, None).counted_at(1000.0, 0, 8, shares=False)
    assert (account.room, account.allowed(1000)) == (8 * PER_PROCESS, 32)
    assert replace(account, results=3).allowed(1000) == 32 + 3 * PER_RESULT
    assert account.counted_at(1000.0, 0, HUGE, shares=True).allowed(HUGE) == 25
    full = replace(account, leases=SPARE + 200.0)
    assert full.allowed(1) == 0
    assert full.counted_at(1036.0, 0, 100, shares=False).allowed(1000) == SPARE // 100
    # A liar fills the ledger by no more than its spare and the leases that it may hold, however long these run.
    assert full.counted_at(4600.0, 10**9, HUGE, shares=False).paid == SPARE + 12 * MAX_UNPROVEN


# -- what it claims -------------------------------------------------------------------------------


@BOTH
def test_a_time_that_one_token_claims_decides_nothing_for_others(farm: Bearers, clock: DatabaseClock) -> None:
    for number in range(3):
        farm.enrol(f"w{number}", farm.join(f"other-{number}"), processes=4)
    clock.move(200.0)
    for number in range(3):
        held = farm.lease(f"w{number}", f"other-{number}", count=12)
        clock.move(12.0)
        farm.deliver(held, f"other-{number}", seconds=4.0)
    before = farm.campaign.overview().eta
    farm.enrol("one", processes=1)
    farm.deliver(farm.lease("one", count=2), LIAR, seconds=1e10)
    after = farm.campaign.overview().eta
    assert before is not None
    assert after is not None
    assert after.seconds < 2 * before.seconds + 60
    assert sum(record.seconds or 0.0 for record in farm.campaign.task_records()) < 10 * HOUR
    # What a liar claims to take no time does not make others kill their tasks.
    assert with_token(farm.campaign, farm.tokens[HONEST]).pace("cpu") == pytest.approx(
        with_token(farm.campaign, farm.tokens["other-0"]).pace("cpu"), rel=1e3
    )


def test_one_other_token_says_nothing_about_the_time_of_tasks(farm: Bearers) -> None:
    farm.enrol("one")
    farm.deliver(farm.lease("one", count=1), LIAR, seconds=1e-9)
    assert with_token(farm.campaign, farm.tokens[HONEST]).pace("cpu") is None
    assert with_token(farm.campaign, farm.tokens[LIAR]).pace("cpu") is not None


def test_workers_that_open_the_ledger_have_no_limits(tmp_path: Path, clock: DatabaseClock) -> None:
    with new_ledger("sqlite", tmp_path) as ledger:
        campaign = ledger.create_campaign(NAME, KEY, PLAN.work.tolist())
        ledger.enrol("here", "host", "1")
        held = campaign.lease("here", TASKS, 10 * HOUR)
        assert len(held) == TASKS
        clock.move(9 * HOUR)
        campaign.renew(held, 10 * HOUR)
        clock.move(9 * HOUR)
        assert campaign.renew(held, HOUR) == {lease.attempt for lease in held}
        assert campaign.patience() > PRESENCE_SECONDS
