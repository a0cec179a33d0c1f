"""One token stops nobody: what its bearer holds, reports and claims, with invented workers and hosts."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from sqlalchemy import func, select
from starlette.requests import Request

from db import Credential, Lease, Ledger
from db.errors import LedgerBusy
from db.look.overview.records import WarningKind
from db.messages import converted, document
from db.records import TokenRecord
from db.schema.models import Attempt, Event
from db.states import COMPLAINTS, EventKind, Outcome, Role, TaskState
from db.trust import holding
from db.trust.holding import COUNT_SECONDS
from db.work.deadlines import UNKNOWN_SECONDS
from db.work.leases import COPY_SECONDS
from db.work.presence import PRESENCE_SECONDS
from db.work.tokens import digest
from jobs.farm.api.usage import EVERY_SECONDS, Usage, written
from jobs.farm.guard.bodies import Bounds
from jobs.farm.guard.charges import Payer
from jobs.farm.guard.door import Guest
from jobs.show.notifications import STALLED_SECONDS, NotifiableFacts
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from tests.support.asgi import Served
from tests.support.campaigns import HOUR, delivery, pace, shown_by, task_records, terms_of, with_token
from tests.support.cases import exhaustive
from tests.support.clock import MovableClock
from tests.support.database_clock import DatabaseClock, moved_clock
from tests.support.databases import ledger_of_a_test, new_ledger
from tests.support.enrolling import enrol

KEY, COUNT = PlanKey(Problem.langford(11), "polyphase", 10), 17_792
PLAN = plan_of(KEY)
TASKS = len(PLAN.work)
SHARE = TASKS - TASKS // 2
"""The most that a token holds while another one is present."""
NAME, LIAR, HONEST, OTHER = "eleven", "liar", "honest", "other"
HUGE = 10**6


class Bearers(Served):
    """A server of a campaign, and those who have tokens: workers of the liar are on whatever hosts they say."""

    def __init__(self, ledger: Ledger) -> None:
        campaign = ledger.create_campaign(NAME, KEY, PLAN.work.tolist())
        super().__init__(ledger, campaign, dict.fromkeys([LIAR, HONEST], Role.WORKER))

    def join(self, name: str) -> str:
        """Give one more a token, without a label."""
        self.tokens[name] = self.campaign.operator.new_token(Role.WORKER)
        return name

    def post(self, path: str, token: str, **fields: Any) -> Any:
        return self.ask("POST", f"/campaigns/NAME{path}", token, fields)

    def enrol(self, worker: str, token: str = LIAR, processes: int = HUGE, host: str = "") -> str:
        enrol(
            self.ledger,
            worker,
            host or f"host-{worker}",
            "1",
            terms=terms_of(self.tokens[token]),
            processes=processes,
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

    def end(self, outcome: Outcome, held: list[Lease], token: str = LIAR) -> bool:
        """Whether a task is set aside for that."""
        shown = [shown_by(lease) for lease in held]
        return bool(self.post("/ends", token, attempts=shown, outcome=outcome, note="boom").json()["set_aside"])

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
        return next(token for token in self.campaign.operator.tokens() if token.label == LIAR)

    def rows(self, table: type[Attempt] | type[Event]) -> int:
        with self.ledger.database.reading() as connection:
            return connection.scalar(select(func.count()).select_from(table)) or 0

    def warnings(self) -> str:
        return "\n".join(warning.text for warning in self.campaign.reader.overview().warnings)


@pytest.fixture
def clock() -> Iterator[DatabaseClock]:
    with moved_clock() as moved:
        yield moved


BOTH = pytest.mark.parametrize("farm", ["sqlite", *exhaustive(["postgres"])], indirect=True)
"""For tests whose statements no other file runs on Postgres."""


@pytest.fixture
def farm(request: pytest.FixtureRequest, tmp_path: Path, clock: DatabaseClock) -> Iterator[Bearers]:
    with ledger_of_a_test(getattr(request, "param", "sqlite"), tmp_path) as ledger:
        made = Bearers(ledger)
        yield made
        made.client.close()


# -- holding --------------------------------------------------------------------------------------


@BOTH
def test_a_token_holds_a_share_and_others_do_the_rest(farm: Bearers, clock: DatabaseClock) -> None:
    good = farm.enrol("good", HONEST)
    one, other = farm.enrol("one"), farm.enrol("other")
    held = [*farm.lease(one), *farm.lease(other)]
    assert sum(farm.held().values()) == len(held) == SHARE
    refused = farm.ask_for_tasks(other)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert "hold their share of the tasks that are left" in refused.json()["error"]
    assert farm.work(good) == TASKS - SHARE
    # What is held is copied, however often it is renewed, and whatever steps are claimed.
    clock.move(COPY_SECONDS + COUNT_SECONDS)
    assert farm.renew(held, steps=1) == sorted(lease.attempt for lease in held)
    assert farm.lease(other, copies=1000) == []
    assert farm.work(good) == SHARE
    assert farm.campaign.reader.merged().published == COUNT


def test_a_token_that_comes_first_and_copies_its_own_tasks_keeps_them_from_nobody(
    farm: Bearers, clock: DatabaseClock
) -> None:
    """While nobody else is present a token may hold all tasks: others get copies of them."""
    one, other = farm.enrol("one"), farm.enrol("other")
    held = farm.lease(one)
    clock.move(COPY_SECONDS + COUNT_SECONDS)
    copies = farm.lease(other, copies=1000)
    assert (len(held), len(copies)) == (TASKS, TASKS)
    good = farm.enrol("good", HONEST)
    farm.renew([*held, *copies], steps=7)
    assert farm.work(good) == TASKS
    assert farm.campaign.reader.merged().published == COUNT


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
    farm.enrol("good", HONEST)
    for step, done in ((1, TASKS - SHARE), (2, SHARE)):
        clock.move(UNKNOWN_SECONDS / 2 + 1)
        assert farm.renew(held, step)
        assert farm.renew(copies, step, OTHER)
        assert farm.work() == done


def test_who_gives_tasks_back_and_gets_them_again_keeps_them_from_nobody(
    farm: Bearers, clock: DatabaseClock
) -> None:
    """A worker that knows of no lease gets new ones for its tasks by one request, in which nobody comes between."""
    farm.join(OTHER)
    farm.enrol("good", HONEST)
    liars = [(farm.enrol("one"), LIAR), (farm.enrol("two", OTHER), OTHER)]
    held = [lease for worker, token in liars for lease in farm.lease(worker, token, held=[])]
    done = farm.work()
    assert done + len(held) == TASKS
    for _ in range(5):
        clock.move(COPY_SECONDS / 2)
        for worker, token in liars:
            farm.lease(worker, token, held=[], copies=1000)
        done += farm.work()
    assert done == TASKS
    assert farm.campaign.reader.merged().published == COUNT


@pytest.mark.parametrize(
    ("farm", "gives_back"),
    [("sqlite", False), ("sqlite", True), *exhaustive([("postgres", True)])],
    indirect=["farm"],
)
def test_rechecks_are_kept_from_others_no_longer_than_tasks_take(
    farm: Bearers, clock: DatabaseClock, gives_back: bool
) -> None:
    """By who claims steps, and by who gives them back and gets them again."""
    farm.campaign.operator.raise_share(1.0)
    farm.join(OTHER)
    farm.enrol("first", OTHER)
    assert farm.work("first", OTHER) == TASKS
    liar = farm.enrol("one")
    held = farm.lease(liar, held=[])
    assert len(held) == SHARE
    farm.enrol("good", HONEST)
    done = farm.work()
    for step in range(1, 4):
        clock.move(UNKNOWN_SECONDS / 2 + 1)
        if gives_back:
            assert len(farm.lease(liar, held=[])) <= SHARE
        else:
            farm.renew(held, step)
        done += farm.work()
    assert done == TASKS
    assert farm.campaign.reader.merged().published == COUNT


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


def test_revoking_a_token_ends_its_leases(farm: Bearers) -> None:
    farm.enrol("one")
    farm.enrol("good", HONEST)
    farm.lease("one", count=1)
    farm.lease("good", HONEST, count=1)
    number = next(token.token_id for token in farm.campaign.operator.tokens() if token.label == "liar")
    assert farm.campaign.operator.revoke(number)
    assert farm.held() == {"good": 1}
    farm.enrol("last", farm.join(OTHER))
    farm.lease("last", OTHER, count=1)
    farm.campaign.operator.revoke()
    assert farm.held() == {}
    assert farm.campaign.reader.standing().tasks == {TaskState.READY: TASKS}


def test_a_token_that_is_revoked_while_its_request_arrives_does_nothing(farm: Bearers) -> None:
    """It was valid when the headers arrived."""
    farm.enrol("one", processes=1)
    [lease] = farm.lease("one", count=1)
    done = document(delivery(lease, PLAN.evaluate(lease.index)))
    asked = {"campaign": farm.campaign.uuid, "worker": "one", "count": 9, "seconds": 9.0, "held": [], "copies": 0}
    numbers = {token.label: token.token_id for token in farm.campaign.operator.tokens()}
    for token, path, request in (
        (HONEST, "/results", {"deliveries": [done], "now": 0}),
        (LIAR, "/leases", asked),
    ):
        text, number = json.dumps(request).encode(), numbers[token]

        async def slowly(text: bytes = text, number: int = number) -> AsyncIterator[bytes]:
            yield text[:1]
            farm.campaign.operator.revoke(number)
            yield text[1:]

        headers = {"Authorization": f"Bearer {farm.tokens[token]}"}
        refused = farm.client.post(f"/campaigns/{NAME}{path}", content=slowly(), headers=headers)
        assert (refused.status_code, "was revoked" in refused.text) == (403, True), refused.text
    assert farm.held() == {}
    assert farm.campaign.reader.standing().tasks == {TaskState.READY: TASKS}


def kinds(farm: Bearers) -> list[WarningKind]:
    return [warned.kind for warned in farm.campaign.reader.overview().warnings if "--revoke 1" in warned.text]


def test_a_token_whose_many_leases_brought_nothing_waits_for_a_result(
    farm: Bearers, clock: DatabaseClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is reported then, and not before: its leases that run cost nothing."""
    monkeypatch.setattr(holding, "MAX_FRUITLESS", 2 * TASKS)
    farm.enrol("one")
    for _ in range(2):
        assert kinds(farm) == []
        held = farm.lease("one", held=[])
        assert len(held) == TASKS
        clock.move(HOUR / 2)
    assert kinds(farm) == []
    [lease, *others] = held
    farm.end(Outcome.FAILED, [lease])
    farm.end(Outcome.RELEASED, others)
    assert kinds(farm) == [WarningKind.TOKEN]
    clock.move(COUNT_SECONDS)
    refused = farm.ask_for_tasks("one")
    assert (refused.status_code, "leases of the workers with this token brought no result" in refused.text) == (
        429,
        True,
    )
    liar, honest = farm.campaign.operator.tokens()
    assert (liar.workers, liar.leases, liar.held, liar.results, liar.failures) == (1, 2 * TASKS, 0, 0, 1)
    assert (honest.workers, honest.leases, honest.results) == (0, 0, 0)
    farm.deliver(others[:1], LIAR)  # late
    assert kinds(farm) == []
    assert farm.lease("one")


@BOTH
def test_the_operator_reads_what_the_requests_of_each_token_took(farm: Bearers) -> None:
    charges = farm.clients.charges
    usage = Usage(farm.ledger, charges)
    liar, honest = (Payer(digest(token)) for token in farm.tokens.values())
    farm.deliver(farm.lease(farm.enrol("good", HONEST), HONEST, count=8))
    usage.write()
    unused, used = (record.used for record in farm.campaign.operator.tokens())
    assert unused == 0.0 < used
    charges.add(Payer.stranger("192.0.2.1"), 1e6)
    charges.add(liar, 61.0)
    charges.add(honest, 6.1)
    usage.write()
    first, second = farm.campaign.operator.tokens()
    assert first.used == pytest.approx(61.0)
    assert first.share == pytest.approx(first.used / (first.used + second.used))
    assert farm.warnings() == ""


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


def test_the_operator_reads_who_holds_what(farm: Bearers, clock: DatabaseClock) -> None:
    farm.enrol("liar-one")
    held = farm.lease("liar-one")
    moved = MovableClock()
    facts = NotifiableFacts(farm.campaign, STALLED_SECONDS, moved)
    assert facts.of(farm.campaign.reader.overview()) == []
    for _ in range(8):
        clock.move(UNKNOWN_SECONDS / 8)
        moved.move(UNKNOWN_SECONDS / 8)
        farm.renew(held)
    assert f"{TASKS} by liar-one on host-liar-one, token 1 'liar'" in farm.campaign.reader.holders_in_words()
    [stalled] = facts.of(farm.campaign.reader.overview())
    assert stalled.kind == "stalled"
    assert "liar-one on host-liar-one" in stalled.text


@pytest.mark.parametrize(("scheme", "status"), [("Bearer", 200), ("bearer", 200), ("BEARER", 200), ("Basic", 401)])
def test_the_scheme_of_a_token_has_no_case(farm: Bearers, scheme: str, status: int) -> None:
    headers = {"Authorization": f"{scheme} {farm.tokens[HONEST]}"}
    assert farm.client.get(f"/campaigns/{NAME}", headers=headers).status_code == status


# -- setting aside --------------------------------------------------------------------------------


def test_one_token_sets_no_task_aside_while_another_is_present(farm: Bearers) -> None:
    farm.enrol("good", HONEST)
    for number in range(4):
        worker = farm.enrol(f"liar-{number}")
        for _ in range(4):
            assert not any(farm.end(Outcome.DIED, [lease]) for lease in farm.lease(worker, count=3))
    assert farm.work() == TASKS
    assert farm.campaign.reader.merged().published == COUNT


@pytest.mark.parametrize("outcome", COMPLAINTS)
def test_a_token_under_the_name_of_the_ledgers_machine_sets_nothing_aside(farm: Bearers, outcome: Outcome) -> None:
    """Beside a run on that machine, which shows no token."""
    enrol(farm.ledger, "run", "here", "1")
    assert len(farm.campaign.worker.lease("run", 1, HOUR)) == 1
    farm.enrol("one", host="here")
    for _ in range(5):
        assert not any(farm.end(outcome, [lease]) for lease in farm.lease("one"))
    assert farm.campaign.reader.standing().tasks.get(TaskState.SET_ASIDE) is None
    finished = 1
    while held := farm.campaign.worker.lease("run", TASKS, HOUR):
        finished += len(held)
    assert finished == TASKS


@BOTH
def test_what_one_token_alone_sets_aside_is_named_and_tried_again(farm: Bearers, clock: DatabaseClock) -> None:
    def complain() -> int:
        held = (lease for _ in range(3) for lease in farm.lease("liar-one", count=9))
        return sum(farm.end(Outcome.FAILED, [lease]) for lease in held)

    farm.enrol("liar-one")
    assert 0 < complain() <= TASKS
    assert "by liar-one on host-liar-one, token 1 'liar'" in farm.warnings()
    farm.enrol("good", HONEST)
    assert farm.campaign.operator.reopen() > 0
    clock.move(COUNT_SECONDS)
    assert complain() == 0
    assert farm.work() == TASKS


@pytest.mark.parametrize(("completed", "has_say"), [(2, True), (3, False)])
def test_a_voter_whose_tasks_others_complete_loses_its_say(
    farm: Bearers, clock: DatabaseClock, completed: int, has_say: bool
) -> None:
    """Two tokens could set tasks aside; after three that others complete, they cannot."""
    farm.join(OTHER)
    farm.enrol("one", host="x")
    farm.enrol("two", OTHER, host="y")
    farm.enrol("good", HONEST)
    tried = {lease.index: lease for lease in farm.lease("one", count=completed)}
    for lease in tried.values():
        farm.end(Outcome.FAILED, [lease])
    farm.deliver([lease for lease in farm.lease("good", HONEST, count=8) if lease.index in tried])
    clock.move(COUNT_SECONDS)
    first = farm.lease("one", count=1)
    for _ in range(2):
        farm.end(Outcome.FAILED, [first[0]])
        first = farm.lease("one", count=1)
    farm.end(Outcome.FAILED, [first[0]])
    [again] = farm.lease("two", OTHER, count=1)
    assert again.index == first[0].index
    assert farm.end(Outcome.FAILED, [again], OTHER) is has_say


def fail_three_times(farm: Bearers, worker: str) -> bool:
    """Whether the task that a worker gets is set aside then."""
    for _ in range(2):
        [lease] = farm.lease(worker, count=1)
        assert not farm.end(Outcome.FAILED, [lease])
    [lease] = farm.lease(worker, count=1)
    return farm.end(Outcome.FAILED, [lease])


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
    farm.end(Outcome.RELEASED, farm.lease(worker))


def expire(farm: Bearers, worker: str) -> None:
    farm.lease(worker, seconds=0.0)


def forge(farm: Bearers, worker: str) -> None:
    [real] = farm.lease("honest-one", HONEST, count=1) or [Lease(1, "x", 0, 1.0, False)]
    fake = delivery(Credential(real.attempt, "forged"), PLAN.evaluate(real.index))
    farm.post("/results", LIAR, deliveries=[document(fake)] * 6, now=0)


@pytest.mark.parametrize("attack", [give_back, *exhaustive([expire, forge])])
def test_what_brings_no_result_is_bounded_over_restarts(
    farm: Bearers,
    clock: DatabaseClock,
    attack: Callable[[Bearers, str], None],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    most = TASKS // 2 + 1  # more than the honest half, fewer than the attacks
    monkeypatch.setattr(holding, "MAX_FRUITLESS", most)
    farm.enrol("honest-one", HONEST, processes=100)
    workers = [farm.enrol(f"liar-{number}") for number in range(3)]
    for number in range(20):
        attack(farm, workers[number % 3])
        clock.move(COUNT_SECONDS)
        if number % 10 == 0:
            farm.start()
    assert farm.rows(Attempt) <= most + TASKS + 20
    refused = EventKind.REFUSED
    with farm.ledger.database.reading() as connection:
        assert connection.scalar(select(func.count()).where(Event.kind == refused)) <= most
    with caplog.at_level(logging.INFO):
        answer = farm.ask_for_tasks(workers[0])
    assert answer.status_code == 429
    assert "brought no result" in answer.json()["error"]
    assert any(f"{NAME}: the last" in record.getMessage() for record in caplog.records)
    farm.campaign.operator.take_back("as after their deadline")
    clock.move(COUNT_SECONDS)
    farm.work("honest-one")
    assert farm.campaign.reader.standing().unfinished == 0


# -- honest farms ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "held", "others", "expected"),
    [
        (100, 0, [], 100),  # alone
        (100, 0, [math.inf], 50),
        (100, 50, [math.inf], 0),
        (100, 0, [math.inf, math.inf], 34),
        (100, 20, [math.inf, math.inf], 14),
        (100, 0, [8], 92),  # what the other cannot use
        (100, 0, [8, 10**9], 100 - 8 - 33),  # to state more buys no more than a share
        (1, 0, [math.inf], 1),  # the last one
        (0, 0, [math.inf], 0),
    ],
)
def test_what_one_token_may_hold(left: int, held: int, others: list[float], expected: int) -> None:
    assert holding.room(left, held, others) == expected


def test_two_sites_with_one_token_each_use_all_their_nodes(farm: Bearers, clock: DatabaseClock) -> None:
    """Twenty nodes of 64 processes each, which hold a task and the next: nobody is refused while tasks wait."""
    large = farm.ledger.create_campaign("large", KEY, [1.0] * 5_500)
    tokens = {site: large.operator.new_token(Role.WORKER) for site in "ab"}
    nodes = [(f"{site}-{number}", tokens[site]) for number in range(20) for site in "ab"]
    for node, token in nodes:
        enrol(farm.ledger, node, node, "1", terms=terms_of(token), processes=64)
    for count in (64, 64):
        for node, token in nodes:
            assert len(with_token(large, token).lease(node, count, HOUR)) == count
        clock.move(300.0)
    assert large.reader.standing().tasks == {TaskState.LEASED: 5_120, TaskState.READY: 380}


def test_who_holds_what_is_counted_once_for_all_tokens_and_not_for_those_who_ask_in_vain(
    farm: Bearers, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Mock(wraps=holding.presence.processes)
    monkeypatch.setattr(holding.presence, "processes", counts)
    for worker, token in (("good", HONEST), ("bad", LIAR), ("third", farm.join(OTHER))):
        farm.enrol(worker, token)
    for worker, token in (("good", HONEST), ("third", OTHER)):
        assert len(farm.lease(worker, token, count=1)) == 1
    assert counts.call_count == 1
    held, counted = farm.lease("bad"), counts.call_count
    assert [farm.lease("bad") for _ in range(3)] == [[], [], []]
    assert counts.call_count == counted + 1
    farm.end(Outcome.RELEASED, held[:1])
    assert len(farm.lease("bad")) == 1


# -- what it claims -------------------------------------------------------------------------------


def test_a_time_that_one_token_claims_decides_nothing_for_others(farm: Bearers, clock: DatabaseClock) -> None:
    for number in range(3):
        farm.enrol(f"w{number}", farm.join(f"other-{number}"), processes=4)
    clock.move(200.0)
    for number in range(3):
        held = farm.lease(f"w{number}", f"other-{number}", count=12)
        clock.move(12.0)
        farm.deliver(held, f"other-{number}", seconds=4.0)
    before = farm.campaign.reader.overview().eta
    farm.enrol("one", processes=1)
    farm.deliver(farm.lease("one", count=2), LIAR, seconds=1e10)
    after = farm.campaign.reader.overview().eta
    assert before is not None
    assert after is not None
    assert after.seconds < 2 * before.seconds + 60
    assert sum(record.seconds or 0.0 for record in task_records(farm.campaign)) < 10 * HOUR
    # What a liar claims to take no time does not make others kill their tasks.
    assert pace(farm.campaign, token=farm.tokens[HONEST]) == pytest.approx(
        pace(farm.campaign, token=farm.tokens["other-0"]), rel=1e3
    )


def test_one_other_token_says_nothing_about_the_time_of_tasks(farm: Bearers) -> None:
    farm.enrol("one")
    farm.deliver(farm.lease("one", count=1), LIAR, seconds=1e-9)
    assert pace(farm.campaign, token=farm.tokens[HONEST]) is None
    assert pace(farm.campaign, token=farm.tokens[LIAR]) is not None


def test_workers_that_open_the_ledger_have_no_limits(tmp_path: Path, clock: DatabaseClock) -> None:
    with new_ledger("sqlite", tmp_path) as ledger:
        campaign = ledger.create_campaign(NAME, KEY, PLAN.work.tolist())
        enrol(ledger, "here", "host", "1")
        held = campaign.worker.lease("here", TASKS, 10 * HOUR)
        assert len(held) == TASKS
        clock.move(9 * HOUR)
        campaign.worker.renew(held, 10 * HOUR)
        clock.move(9 * HOUR)
        assert campaign.worker.renew(held, HOUR) == {lease.attempt for lease in held}
        assert campaign.reader.patience() > PRESENCE_SECONDS
