"""The ledger's life of a task, on SQLite and on Postgres: one test per transition, then random
histories."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)
from sqlalchemy import text

from db import CampaignRecord, Delivery, Ledger
from db.errors import CampaignMismatch, ConflictingResults, NoSuchCampaign, UntrustedResults, WorkerDistrusted
from db.replication import is_drawn, queue
from db.states import EventKind, Outcome, TaskState
from langford.arithmetic.residue import residue
from langford.methods import METHODS
from langford.problem import Problem
from langford.result import Expectation, PartialResult
from tests.databases import fresh_database

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


@pytest.fixture(params=["sqlite", "postgres", "pgbouncer"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(fresh_database(request.param, tmp_path), create=True)
    yield opened
    opened.close()


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
    for _ in range(2):
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


def test_a_share_of_the_results_is_evaluated_again(ledger: Ledger, campaign: CampaignRecord) -> None:
    campaign = ledger.replicate(campaign, 0.3)
    drawn = {index for index in range(TASKS) if is_drawn(campaign, index)}
    assert 0 < len(drawn) < TASKS
    finish(ledger, campaign, "a")
    assert len(drawn) <= ledger.rechecks(campaign) <= len(drawn) + 1  # and the first result of the worker
    assert not ledger.lease(campaign, "a", TASKS, HOUR)
    again = ledger.lease(campaign, "b", TASKS, HOUR)
    assert drawn <= {lease.index for lease in again}
    for lease in again[1:]:
        assert accept(ledger, lease.attempt, TRUE[lease.index]) is EventKind.CONFIRMED
    ledger.release([again[0].attempt])
    assert [lease.index for lease in ledger.lease(campaign, "b", TASKS, HOUR)] == [again[0].index]
    assert ledger.progress(campaign).rechecks == 1
    assert ledger.results(campaign) == TRUE


def test_rechecks_go_to_the_other_kernel_first(ledger: Ledger, campaign: CampaignRecord) -> None:
    ledger.enrol("gpu", "host", "2", "cuda")
    campaign = ledger.replicate(campaign, 1.0)
    for worker in ("a", "gpu", "a", "gpu"):
        [lease] = ledger.lease(campaign, worker, TASKS, HOUR)[-1:]
        accept(ledger, lease.attempt, TRUE[lease.index])
        ledger.release_worker(worker, "enough")
    by_worker = [ledger.lease(campaign, worker, 1, HOUR)[0].index for worker in ("a", "gpu")]
    assert len(set(by_worker)) == 2
    ledger.release_worker("a", "")
    ledger.release_worker("gpu", "")
    rechecked = ledger.lease(campaign, "b", 4, HOUR)  # a CPU: the GPU's results come first
    with ledger._reading() as connection:
        kernels = [
            connection.scalar(
                text(
                    "SELECT w.kernel FROM result r JOIN attempt a ON a.id = r.attempt_id "
                    f"JOIN worker w ON w.id = a.worker_id WHERE r.task_index = {lease.index}"
                )
            )
            for lease in rechecked
            if ledger.tasks(campaign)[lease.index].value is not None
        ]
    assert kernels == sorted(kernels, reverse=True)
    assert kernels[0] == "cuda"


def test_a_third_worker_settles_a_conflict(ledger: Ledger, campaign: CampaignRecord) -> None:
    for worker in "cd":
        ledger.enrol(worker, "host", "1")
    lies = {lease.index: lease for lease in ledger.lease(campaign, "a", 3, HOUR)}
    for lease in lies.values():
        accept(ledger, lease.attempt, forged(lease.index))
    finish(ledger, campaign, "b")
    assert len(ledger.results(campaign)) == TASKS  # nobody has noticed anything yet
    suspect = min(lies)
    late = ledger.lease(ledger.replicate(campaign, 0), "b", 1, HOUR)
    assert not late
    with ledger._writing() as connection:
        queue(connection, campaign.id, [suspect])
    [second] = ledger.lease(campaign, "b", 1, HOUR)
    assert accept(ledger, second.attempt, TRUE[suspect]) is EventKind.CONFLICT
    with pytest.raises(ConflictingResults, match="run another worker"):
        ledger.results(campaign)
    assert not ledger.lease(campaign, "a", 1, HOUR) + ledger.lease(campaign, "b", 1, HOUR)
    [third] = ledger.lease(campaign, "c", 5, HOUR)
    assert accept(ledger, third.attempt, TRUE[suspect]) is EventKind.CONFLICT
    assert ledger.progress(campaign).conflicts == 0
    with pytest.raises(WorkerDistrusted, match="memory"):
        ledger.lease(campaign, "a", 1, HOUR)
    with pytest.raises(UntrustedResults, match="2 results"):
        ledger.results(campaign)
    finish(ledger, campaign, "d")
    assert ledger.results(campaign) == TRUE
    assert ledger.progress(campaign).rechecks == 0


def test_a_recheck_that_fails_is_set_aside_and_its_result_stays(ledger: Ledger, campaign: CampaignRecord) -> None:
    campaign = ledger.replicate(campaign, 1.0)
    finish(ledger, campaign, "a")
    for last in (False, False, True):
        lease = ledger.lease(campaign, "b", 1, HOUR)[0]
        assert ledger.fail(campaign, lease.attempt, "boom") is last
    assert ledger.progress(campaign).tasks == {TaskState.DONE: TASKS}
    assert lease.index not in {other.index for other in ledger.lease(campaign, "b", TASKS, HOUR)}
    assert ledger.results(campaign) == TRUE


def finish(ledger: Any, campaign: CampaignRecord, worker: str) -> None:
    """Let an honest worker do all that it gets."""
    while leases := ledger.lease(campaign, worker, TASKS, HOUR):
        ledger.accept(campaign, PLAN, [Delivery(each.attempt, TRUE[each.index], 0.5, "{}") for each in leases])


class Histories(RuleBasedStateMachine):
    """Any interleaving of workers, of whom "b" may lie: no task done twice, none lost, and where all results
    are replicated, honest workers put everything right."""

    leases = Bundle("leases")
    database = "sqlite"

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.ledger = self.opened(Ledger(fresh_database(self.database, Path(self.folder.name)), create=True))
        self.campaign = new_campaign(self.ledger)
        self.done: set[int] = set()
        self.lied_about: set[int] = set()
        self.voted: set[tuple[str, int]] = set()
        self.failures = dict.fromkeys(range(TASKS), 0)
        self.open: dict[int, int] = {}
        self.distrusted = False

    def opened(self, ledger: Ledger) -> Any:
        """What the workers talk to."""
        return ledger

    @initialize(share=st.sampled_from([0.0, 0.3, 1.0]))
    def choose(self, share: float) -> None:
        self.campaign = self.ledger.replicate(self.campaign, share)

    def teardown(self) -> None:
        self.ledger.release_worker("a", "the end")
        self.ledger.release_worker("b", "the end")
        self.ledger.reopen(self.campaign)
        for worker in ("x", "y", "z"):
            self.ledger.enrol(worker, "host", "9")
        for worker in ("x", "y", "z") * 2:
            finish(self.ledger, self.campaign, worker)
        results = self.ledger.results(self.campaign)
        wrong = {mine.index for mine, true in zip(results, TRUE, strict=True) if mine != true}
        assert wrong <= self.lied_about
        assert not wrong or self.campaign.replicate < 1
        self.ledger.close()
        self.folder.cleanup()

    @rule(target=leases, worker=st.sampled_from("ab"), count=st.integers(1, 4), overdue=st.booleans())
    def lease(self, worker: str, count: int, overdue: bool):  # type: ignore[no-untyped-def]
        try:
            granted = self.ledger.lease(self.campaign, worker, count, -1 if overdue else HOUR)
        except WorkerDistrusted:
            assert worker == "b"
            return multiple()
        # Overdue attempts of earlier grants are over by now.
        self.open = {attempt: index for attempt, index in self.open.items() if index >= 0}
        for lease in granted:
            assert lease.index not in self.done or (worker, lease.index) not in self.voted
            assert lease.index in self.done or lease.index not in self.open.values()
            self.open[lease.attempt] = -1 if overdue else lease.index
        return multiple(*((lease.attempt, lease.index, worker) for lease in granted))

    @rule(lease=leases)
    def deliver(self, lease: tuple[int, int, str]) -> None:
        self.hand_in(lease, TRUE[lease[1]])

    @rule(lease=leases)
    def deliver_forgery(self, lease: tuple[int, int, str]) -> None:
        if lease[2] == "b":
            self.lied_about.add(lease[1])
            self.hand_in(lease, forged(lease[1]))

    def hand_in(self, lease: tuple[int, int, str], result: PartialResult) -> None:
        attempt, index, worker = lease
        event = accept(self.ledger, attempt, result)
        assert event is None or index in self.done
        assert event is not EventKind.CONFLICT or index in self.lied_about
        self.done.add(index)
        self.voted.add((worker, index))
        self.open.pop(attempt, None)
        if event is not None:
            # Should somebody have lost trust, their leases are over; even by a confirmation of another, who
            # then is found to have said two things.
            overdue = [other for other, task in self.open.items() if task < 0]
            running = self.ledger.renew(set(self.open) - set(overdue), HOUR) | self.ledger.renew(overdue, 0.0)
            time.sleep(0.003)  # those are overdue again
            self.open = {other: task for other, task in self.open.items() if other in running}

    @rule(lease=leases, outcome=st.sampled_from([Outcome.PREEMPTED, Outcome.RELEASED]))
    def give_back(self, lease: tuple[int, int, str], outcome: Outcome) -> None:
        self.ledger.release([lease[0]], outcome)
        self.open.pop(lease[0], None)

    @rule(lease=consumes(leases))
    def fail(self, lease: tuple[int, int, str]) -> None:
        attempt, index, _ = lease
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
        for task in self.ledger.tasks(self.campaign):
            assert (task.value is not None) == (task.index in self.done) == (task.state == TaskState.DONE)
            assert task.failures == self.failures[task.index]
            assert task.value in (None, str(TRUE[task.index].value)) or task.index in self.lied_about


class PostgresHistories(Histories):
    """The same histories on Postgres."""

    database = "postgres"


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
TestPostgresHistories = PostgresHistories.TestCase
TestPostgresHistories.settings = settings(max_examples=10, stateful_step_count=20, deadline=None)
