"""Random histories of workers at one campaign: a state machine, used directly and through a server."""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import inf
from pathlib import Path
from typing import Any
from unittest.mock import patch

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
from msgspec import structs
from sqlalchemy import select, update

from db import Credential, Export, Lease
from db.errors import ConflictingResults, Unreplicated, UntrustedResults, WorkerDistrusted
from db.files.promise import lot
from db.schema import models
from db.schema.models import Attempt, Result, Task, Voter, Witness, Worker
from db.states import EventKind, Outcome, Role, TaskState
from db.store.transaction import Transaction
from db.trust import holding, witnesses
from langford.result import Evaluation, PartialResult
from tests.support.campaigns import (
    HOUR,
    KEY,
    NAME,
    PLAN,
    TASKS,
    TRUE,
    deliver,
    forged,
    new_campaign,
    task_records,
    terms_of,
    true_deliveries,
    with_token,
)
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol
from tests.support.pages import table

HONEST, LIARS = 2, 5
TRANSITIONS = {(before, after) for before, after, _ in table("States of a task")}


@dataclass(frozen=True)
class Machine:
    """A machine with a token.

    Attributes:
        host: its name.
        token: with which it uses the server.
        lie: what a liar adds to a sum, as a multiple of what the checks do not notice; 0: it is honest.
    """

    host: str
    token: str
    lie: int = 0

    def is_independent_of(self, other: Machine) -> bool:
        """Whether both may vote on one task; a host is only a name."""
        return self.token != other.token


@dataclass(frozen=True)
class Held:
    """A lease and the machine that got it."""

    lease: Lease
    machine: Machine


class Histories(RuleBasedStateMachine):
    """Any interleaving of honest machines and up to five liars, who may collude, share a host or a token, and
    start again under new names; of imports, verdicts of the operator and questions.

    No task is done twice, none is lost.  The merge is exact or says why it waits, where all results are
    replicated and no two independent liars told the same lie; and it can always be brought to an end.
    """

    leases = Bundle("leases")
    database = "sqlite"

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        # A token holds whatever it asks for: tests of its share are in tests/farm/test_one_token.py.
        self.unlimited = patch.object(holding.HeldByTokens, "room", return_value=inf)
        self.unlimited.start()
        self.ledger = new_ledger(self.database, Path(self.folder.name))
        new_campaign(self.ledger, workers="")
        self.campaign: Any = None
        self.states: dict[int, TaskState] = dict.fromkeys(range(TASKS), TaskState.READY)
        self.outcomes: dict[int, Outcome | None] = {}
        self.done: set[int] = set()
        self.lies: dict[int, set[Machine]] = {}
        self.forged_imports: set[int] = set()
        self.voted: set[tuple[Machine, int]] = set()
        self.delivered: set[Held] = set()
        self.void: set[Held] = set()  # what was delivered for them is in question, and no vote when it is repeated
        self.failures = dict.fromkeys(range(TASKS), 0)
        self.open: dict[Lease, int] = {}
        self.workers: dict[Machine, str] = {}
        self.all_workers: list[str] = []

    def start(self, machine: Machine) -> None:
        """A fresh worker of a machine."""
        worker = str(uuid.uuid4())
        enrol(self.ledger, worker, machine.host, "1", terms=terms_of(machine.token))
        self.workers[machine] = worker
        self.all_workers.append(worker)

    def machine(self, host: str, token: str = "", lie: int = 0) -> Machine:
        """A machine with a worker, and with a token of its own unless it shares one."""
        made = Machine(host, token or self.campaign.operator.new_token(Role.WORKER), lie)
        self.start(made)
        return made

    @initialize(
        share=st.sampled_from([0.0, 0.0, 0.3, 1.0]),
        liars=st.integers(0, LIARS),
        collude=st.booleans(),
        shared=st.sampled_from(["nothing", "host", "token"]),
        secret=st.integers(0, 2**32).map(str),
    )
    def choose(self, share: float, liars: int, collude: bool, shared: str, secret: str) -> None:
        with self.ledger.database.writing() as connection:
            # The same lots are drawn when a history is repeated.
            connection.execute(update(models.Campaign).values(secret=secret))
        self.secret = secret
        self.campaign = self.ledger.campaign(NAME)
        self.campaign.operator.raise_share(share)
        for number in range(HONEST):
            self.machine(f"honest-{number}")
        token = self.campaign.operator.new_token(Role.WORKER)
        for number in range(liars):
            self.machine(
                "invented" if shared == "host" else f"liar-{number}",
                token if shared == "token" else "",
                1 if collude else number + 1,
            )

    # -- what may happen ------------------------------------------------------------------

    @rule(target=leases, number=st.integers(0, HONEST + LIARS - 1), count=st.integers(1, 4), overdue=st.booleans())
    def lease(self, number: int, count: int, overdue: bool):  # type: ignore[no-untyped-def]
        machine = list(self.workers)[number % len(self.workers)]
        try:
            granted = self.granted(machine, count, -1 if overdue else HOUR)
        except WorkerDistrusted:
            assert machine.lie or any(self.could_be_believed(index) for index in self.lies)
            self.start(machine)
            return multiple()
        # Overdue attempts of earlier grants are over by now.
        self.open = {lease: index for lease, index in self.open.items() if index >= 0}
        for lease in granted:
            assert lease.index not in self.open.values()
            for voter, index in self.voted:
                assert index != lease.index or voter.is_independent_of(machine)
            self.open[lease] = -1 if overdue else lease.index
        return multiple(*(Held(lease, machine) for lease in granted))

    def granted(self, machine: Machine, count: int, seconds: float) -> list[Lease]:
        return with_token(self.campaign, machine.token).lease(self.workers[machine], count, seconds)

    @rule(number=st.integers(0, HONEST + LIARS - 1))
    def restart(self, number: int) -> None:
        self.start(list(self.workers)[number % len(self.workers)])

    @rule(held=leases)
    def deliver(self, held: Held) -> None:
        self.hand_in(held, TRUE[held.lease.index])

    @rule(held=leases)
    def deliver_forgery(self, held: Held) -> None:
        if held.machine.lie:
            self.lies.setdefault(held.lease.index, set()).add(held.machine)
            self.hand_in(held, forged(held.lease.index, held.machine.lie))

    def hand_in(self, held: Held, result: PartialResult) -> None:
        index = held.lease.index
        event = deliver(self.campaign, held.lease, result)
        assert event is None or index in self.done
        assert event is not EventKind.CONFLICT or index in self.lied_about
        self.done.add(index)
        self.delivered.add(held)
        if held not in self.void:
            self.voted.add((held.machine, index))
        self.open.pop(held.lease, None)
        if event is not None:
            self.somebody_may_have_lost_trust()

    def somebody_may_have_lost_trust(self) -> None:
        """Then their leases are over; even by a confirmation, of one who is then found to have said two things."""
        overdue = [other for other, task in self.open.items() if task < 0]
        running = self.campaign.worker.renew(set(self.open) - set(overdue), HOUR) | self.campaign.worker.renew(
            overdue, 0.0
        )
        time.sleep(0.003)  # those are overdue again
        self.open = {other: task for other, task in self.open.items() if other.attempt in running}

    @rule(indices=st.sets(st.integers(0, TASKS - 1), min_size=1, max_size=3), lies=st.booleans())
    def take_file(self, indices: set[int], lies: bool) -> None:
        """An import, whose results are no votes."""
        results = [forged(index) if lies else TRUE[index] for index in sorted(indices)]
        self.forged_imports |= indices if lies else set()
        self.take(results)
        self.done |= indices
        self.somebody_may_have_lost_trust()

    def take(self, results: Iterable[PartialResult]) -> None:
        evaluations = tuple(Evaluation(result, 0.5, str(uuid.uuid4())) for result in results)
        self.ledger.take(Export(NAME, KEY, TASKS, evaluations), PLAN, str(uuid.uuid4()), "honest-0", "1")

    @rule(indices=st.sets(st.integers(0, TASKS - 1), min_size=1, max_size=3))
    def judge(self, indices: set[int]) -> None:
        self.verdict(indices & self.done)
        self.somebody_may_have_lost_trust()

    def verdict(self, indices: Iterable[int]) -> None:
        """What the operator recomputes on the machine of an honest worker."""
        evaluations = [Evaluation(TRUE[index], 0.5, "{}") for index in sorted(indices)]
        self.campaign.operator.judge(evaluations, str(uuid.uuid4()), "honest-0", "1")

    @rule(index=st.integers(0, TASKS - 1), number=st.integers(0, HONEST + LIARS - 1), by_host=st.booleans())
    def question(self, index: int, number: int, by_host: bool) -> None:
        if by_host:
            host = list(self.workers)[number % len(self.workers)].host
            self.campaign.operator.question(worker=host)
            self.void |= {held for held in self.delivered if held.machine.host == host}
            self.voted = {(machine, task) for machine, task in self.voted if machine.host != host}
        else:
            self.campaign.operator.question([index])
            self.void |= {held for held in self.delivered if held.lease.index == index}
            self.voted = {(machine, task) for machine, task in self.voted if task != index}
        self.somebody_may_have_lost_trust()

    @rule(share=st.sampled_from([0.0, 0.3, 1.0]))
    def raise_the_share(self, share: float) -> None:
        self.campaign.operator.raise_share(share)

    @rule(held=leases, outcome=st.sampled_from([Outcome.PREEMPTED, Outcome.RELEASED]))
    def give_back(self, held: Held, outcome: Outcome) -> None:
        self.campaign.worker.end([held.lease], outcome, "")
        self.open.pop(held.lease, None)

    @rule(held=consumes(leases))
    def fail(self, held: Held) -> None:
        if held.lease in self.open:
            self.failures[held.lease.index] += 1
        self.campaign.worker.end([held.lease], Outcome.FAILED, "boom")
        self.open.pop(held.lease, None)

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
            assert not self.campaign.worker.end([guess], Outcome.FAILED, "boom")
        elif act == "renew":
            assert self.campaign.worker.renew([guess], HOUR) == set()
        else:
            self.campaign.worker.end([guess], Outcome.RELEASED, "")
        assert self.contents() == before

    @rule(held=leases, other=leases)
    def mixed_up(self, held: Held, other: Held) -> None:
        """A worker shows what it got for one attempt with the number or the task of another."""
        lease, mine = held.lease, other.lease
        if lease.nonce != mine.nonce:
            before = self.contents()
            shown = structs.replace(lease, nonce=mine.nonce)
            assert deliver(self.campaign, shown, TRUE[lease.index]) is EventKind.REFUSED
            assert not self.campaign.worker.end([shown], Outcome.FAILED, "boom")
            assert self.campaign.worker.renew([shown], HOUR) == set()
            self.campaign.worker.end([shown], Outcome.RELEASED, "")
            assert self.contents() == before
        if lease.index != mine.index:
            before = self.contents()
            assert deliver(self.campaign, lease, TRUE[mine.index]) is EventKind.REFUSED
            assert self.contents() == before

    @precondition(lambda self: self.open)
    @rule()
    def all_workers_are_found_dead(self) -> None:
        for worker in self.all_workers:
            self.campaign.operator.release_worker(worker, "gone")
        self.open.clear()

    # -- what always holds ----------------------------------------------------------------

    @property
    def lied_about(self) -> set[int]:
        """Tasks for which somebody brought a wrong result."""
        return self.lies.keys() | self.forged_imports

    def could_be_believed(self, index: int) -> bool:
        """Whether two independent liars told the same lie about a task."""
        return any(
            one.lie == other.lie and one.is_independent_of(other)
            for one, other in combinations(self.lies.get(index, ()), 2)
        )

    def contents(self) -> list[Any]:
        """Everything that the ledger knows about tasks, attempts, results and workers."""
        with self.ledger.database.reading() as connection:
            tables = (Task, Attempt, Result, Witness, Voter, Worker)
            return [sorted(map(repr, connection.execute(select(table.__table__)))) for table in tables]

    @invariant()
    def books_balance(self) -> None:
        reader = self.campaign.reader
        assert sum(reader.standing().tasks.values()) == TASKS
        assert reader.standing().tasks.get(TaskState.DONE, 0) == len(self.done)
        for task in task_records(self.campaign):
            assert (task.value is not None) == (task.index in self.done) == (task.state == TaskState.DONE)
            assert task.failures == self.failures[task.index]
            assert task.value in (None, str(TRUE[task.index].value)) or task.index in self.lied_about

    @invariant()
    def what_was_decided_follows_from_the_votes(self) -> None:
        """To count them again changes nothing."""
        before = self.contents()
        with self.ledger.database.writing() as connection:
            witnesses.settle(Transaction(connection, self.campaign.campaign_id), range(TASKS))
        assert self.contents() == before

    @invariant()
    def every_change_is_in_the_design(self) -> None:
        """What became of tasks and attempts since the last step; a step is one transaction that changes them."""
        with self.ledger.database.reading() as connection:
            tasks = connection.execute(select(Task.task_index, Task.state)).all()
            attempts = connection.execute(select(Attempt.id, Attempt.outcome)).all()
        for index, text in tasks:
            before, state = self.states[index], TaskState(text)
            assert state is before or (before, state) in TRANSITIONS
            self.states[index] = state
        for attempt, text in attempts:
            ended, outcome = self.outcomes.get(attempt), None if text is None else Outcome(text)
            assert outcome is ended or ended is None
            self.outcomes[attempt] = outcome

    # -- the end --------------------------------------------------------------------------

    def teardown(self) -> None:
        for worker in self.all_workers:
            self.campaign.operator.release_worker(worker, "the end")
        self.campaign.operator.reopen()
        self.honest_work()
        if not self.lies and not self.forged_imports:
            assert self.merged() == TRUE  # honest work was enough
        for _ in range(TASKS + 1):
            if self.merged() is not None:
                break
            # Whom the operator finds wrong loses trust: then honest work is asked for again.
            self.verdict(self.campaign.reader.rechecked_tasks())
            self.honest_work()
        self.require_no_lie_that_was_found_out()
        self.campaign.operator.question()
        assert self.merged() is None
        self.verdict(range(TASKS))
        assert self.merged() == TRUE
        self.ledger.close()
        self.folder.cleanup()
        self.unlimited.stop()

    def honest_work(self) -> None:
        """New machines, each with a token of its own, until none of them gets anything more."""
        machines = [self.machine(f"fresh-{uuid.uuid4()}") for _ in range(3)]
        busy, done = True, set[tuple[Machine, int]]()
        while busy:
            busy = False
            for machine in machines:
                try:
                    while leases := self.granted(machine, TASKS, HOUR):
                        given = {(machine, lease.index) for lease in leases}
                        assert not given & done
                        self.campaign.worker.deliver(true_deliveries(leases))
                        busy, done = True, done | given
                except WorkerDistrusted:  # outvoted by liars: it starts again
                    assert any(self.could_be_believed(index) for index in self.lies)
                    self.start(machine)

    def merged(self) -> list[PartialResult] | None:
        """The results that would be merged; None when the ledger says why it waits."""
        try:
            results: list[PartialResult] = self.campaign.reader.results()
        except (ConflictingResults, UntrustedResults, Unreplicated) as error:
            reason = str(error)
        else:
            assert not self.campaign.reader.rechecked_tasks()
            return results
        assert self.campaign.reader.rechecked_tasks()
        assert "langford verify seven --waiting" in reason
        return None

    def require_no_lie_that_was_found_out(self) -> None:
        results = self.merged()
        assert results is not None
        wrong = {mine.index for mine, true in zip(results, TRUE, strict=True) if mine != true}
        assert wrong <= self.lied_about
        drawn = {index for index in range(TASKS) if lot(self.secret, index) < self.campaign.recheck_share}
        assert all(self.could_be_believed(index) for index in wrong & drawn)
