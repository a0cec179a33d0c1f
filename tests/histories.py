"""Random histories of workers at one campaign: a state machine, used directly and through a server."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

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
from sqlalchemy import select

from db import Campaign, Credential, Lease, Ledger
from db.errors import WorkerDistrusted
from db.models import Attempt, Recheck, Result, Task, Witness, Worker
from db.states import ATTEMPT_TRANSITIONS, TASK_TRANSITIONS, EventKind, Outcome, TaskState
from langford.result import PartialResult
from tests.campaigns import HOUR, TASKS, TRUE, deliver, finish, forged, new_campaign
from tests.databases import fresh_database

Held = tuple[Lease, str]
"""A lease and the worker that got it."""


class Histories(RuleBasedStateMachine):
    """Any interleaving of workers, of whom "b" may lie: no task done twice, none lost, and where all results
    are replicated, honest workers put everything right."""

    leases = Bundle("leases")
    database = "sqlite"

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.ledger = Ledger(fresh_database(self.database, Path(self.folder.name)), create=True)
        self.campaign = self.connected(new_campaign(self.ledger))
        self.states: dict[int, TaskState] = dict.fromkeys(range(TASKS), TaskState.READY)
        self.outcomes: dict[int, Outcome | None] = {}
        self.done: set[int] = set()
        self.lied_about: set[int] = set()
        self.voted: set[tuple[str, int]] = set()
        self.failures = dict.fromkeys(range(TASKS), 0)
        self.open: dict[Lease, int] = {}
        self.distrusted = False

    def connected(self, campaign: Campaign) -> Any:
        """What the workers talk to."""
        return campaign

    def disconnect(self) -> None:
        """The workers talk to nobody any more."""

    @initialize(share=st.sampled_from([0.0, 0.3, 1.0]))
    def choose(self, share: float) -> None:
        self.campaign.set_recheck_share(share)

    def teardown(self) -> None:
        self.campaign.release_worker("a", "the end")
        self.campaign.release_worker("b", "the end")
        self.campaign.reopen()
        for worker in ("x", "y", "z"):
            self.ledger.enrol(worker, "host", "9")
        for worker in ("x", "y", "z") * 2:
            finish(self.campaign, worker)
        results = self.campaign.results()
        wrong = {mine.index for mine, true in zip(results, TRUE, strict=True) if mine != true}
        assert wrong <= self.lied_about
        assert not wrong or self.campaign.recheck_share < 1
        self.disconnect()
        self.ledger.close()
        self.folder.cleanup()

    @rule(target=leases, worker=st.sampled_from("ab"), count=st.integers(1, 4), overdue=st.booleans())
    def lease(self, worker: str, count: int, overdue: bool):  # type: ignore[no-untyped-def]
        try:
            granted = self.campaign.lease(worker, count, -1 if overdue else HOUR)
        except WorkerDistrusted:
            assert worker == "b"
            return multiple()
        # Overdue attempts of earlier grants are over by now.
        self.open = {lease: index for lease, index in self.open.items() if index >= 0}
        for lease in granted:
            assert lease.index not in self.done or (worker, lease.index) not in self.voted
            assert lease.index in self.done or lease.index not in self.open.values()
            self.open[lease] = -1 if overdue else lease.index
        return multiple(*((lease, worker) for lease in granted))

    @rule(held=leases)
    def deliver(self, held: Held) -> None:
        self.hand_in(held, TRUE[held[0].index])

    @rule(held=leases)
    def deliver_forgery(self, held: Held) -> None:
        if held[1] == "b":
            self.lied_about.add(held[0].index)
            self.hand_in(held, forged(held[0].index))

    def hand_in(self, held: Held, result: PartialResult) -> None:
        lease, worker = held
        index = lease.index
        event = deliver(self.campaign, lease, result)
        assert event is None or index in self.done
        assert event is not EventKind.CONFLICT or index in self.lied_about
        self.done.add(index)
        self.voted.add((worker, index))
        self.open.pop(lease, None)
        if event is not None:
            # Should somebody have lost trust, their leases are over; even by a confirmation of another, who
            # then is found to have said two things.
            overdue = [other for other, task in self.open.items() if task < 0]
            running = self.campaign.renew(set(self.open) - set(overdue), HOUR) | self.campaign.renew(overdue, 0.0)
            time.sleep(0.003)  # those are overdue again
            self.open = {other: task for other, task in self.open.items() if other.attempt in running}

    @rule(held=leases, outcome=st.sampled_from([Outcome.PREEMPTED, Outcome.RELEASED]))
    def give_back(self, held: Held, outcome: Outcome) -> None:
        self.campaign.release([held[0]], outcome)
        self.open.pop(held[0], None)

    @rule(held=consumes(leases))
    def fail(self, held: Held) -> None:
        lease, _ = held
        if lease in self.open:
            self.failures[lease.index] += 1
        self.campaign.fail(lease, "boom")
        self.open.pop(lease, None)

    @rule(
        attempt=st.integers(0, 3 * TASKS),
        index=st.integers(0, TASKS - 1),
        nonce=st.text("0a_-", max_size=22),
        lies=st.booleans(),
        act=st.sampled_from(["deliver", "fail", "renew", "release"]),
    )
    def stranger(self, attempt: int, index: int, nonce: str, lies: bool, act: str) -> None:
        """Somebody without the nonce of any attempt, who may use the campaign: nothing changes."""
        before = self.contents()
        guess = Credential(attempt, nonce)
        if act == "deliver":
            assert deliver(self.campaign, guess, forged(index) if lies else TRUE[index]) is EventKind.REFUSED
        elif act == "fail":
            assert not self.campaign.fail(guess, "boom")
        elif act == "renew":
            assert self.campaign.renew([guess], HOUR) == set()
        else:
            self.campaign.release([guess], Outcome.RELEASED)
        assert self.contents() == before

    @rule(held=leases, other=leases)
    def mixed_up(self, held: Held, other: Held) -> None:
        """A worker shows what it got for one attempt with the number or the task of another."""
        (lease, _), (mine, _) = held, other
        if lease.nonce != mine.nonce:
            before = self.contents()
            shown = replace(lease, nonce=mine.nonce)
            assert deliver(self.campaign, shown, TRUE[lease.index]) is EventKind.REFUSED
            assert not self.campaign.fail(shown, "boom")
            assert self.campaign.renew([shown], HOUR) == set()
            self.campaign.release([shown], Outcome.RELEASED)
            assert self.contents() == before
        if lease.index != mine.index:
            before = self.contents()
            assert deliver(self.campaign, lease, TRUE[mine.index]) is EventKind.REFUSED
            assert self.contents() == before

    def contents(self) -> list[Any]:
        """Everything that the ledger knows about tasks, attempts, results and workers."""
        with self.ledger.database.reading() as connection:
            tables = (Task, Attempt, Result, Witness, Recheck, Worker)
            return [sorted(map(repr, connection.execute(select(table.__table__)))) for table in tables]

    @precondition(lambda self: self.open)
    @rule()
    def worker_is_found_dead(self) -> None:
        self.campaign.release_worker("a", "gone")
        self.campaign.release_worker("b", "gone")
        self.open.clear()

    @invariant()
    def books_balance(self) -> None:
        progress = self.campaign.progress()
        assert sum(progress.tasks.values()) == TASKS
        assert progress.tasks.get(TaskState.DONE, 0) == len(self.done)
        for task in self.campaign.task_records():
            assert (task.value is not None) == (task.index in self.done) == (task.state == TaskState.DONE)
            assert task.failures == self.failures[task.index]
            assert task.value in (None, str(TRUE[task.index].value)) or task.index in self.lied_about

    @invariant()
    def every_change_is_in_the_tables(self) -> None:
        """What became of tasks and attempts since the last step; a step is one transaction that changes them."""
        with self.ledger.database.reading() as connection:
            tasks = connection.execute(select(Task.task_index, Task.state)).all()
            attempts = connection.execute(select(Attempt.id, Attempt.outcome)).all()
        for index, text in tasks:
            before, state = self.states[index], TaskState(text)
            assert state is before or state in TASK_TRANSITIONS[before]
            self.states[index] = state
        for attempt, text in attempts:
            ended, outcome = self.outcomes.get(attempt), None if text is None else Outcome(text)
            assert outcome is ended or outcome in ATTEMPT_TRANSITIONS[ended]
            self.outcomes[attempt] = outcome
