"""What keeps a campaign from its end: dead holders, deadly tasks, clocks; on SQLite and on Postgres."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from db import Campaign, Ledger
from db.schema.models import Attempt, Event, Worker
from db.states import COMPLAINTS, FAILURES_BEFORE_SET_ASIDE, EventKind, Outcome, TaskState
from db.work.leases import COPY_SECONDS
from db.work.presence import PRESENCE_SECONDS
from tests.support.campaigns import HOUR, TASKS, TRUE, age, deliver, new_campaign, task_records, true_deliveries
from tests.support.enrolling import enrol


@pytest.fixture
def campaign(ledger: Ledger) -> Campaign:
    made = new_campaign(ledger)
    for worker in ("one", "two"):
        enrol(ledger, worker, "host", "1")
    enrol(ledger, "elsewhere", "another-host", "1")
    enrol(ledger, "third", "third-host", "1")
    return made


def dies(campaign: Campaign, worker: str, index: int, reason: str = "killed by SIGSEGV") -> bool | None:
    """Let the process of a worker die on a task; whether it was set aside, None when the worker does not get it."""
    leases = {lease.index: lease for lease in campaign.worker.lease(worker, TASKS, HOUR)}
    deadly = leases.pop(index, None)
    campaign.worker.end(leases.values())
    return None if deadly is None else bool(campaign.worker.end([deadly], Outcome.DIED, reason))


def reasons(campaign: Campaign) -> list[tuple[int, str]]:
    with campaign.database.reading() as connection:
        rows = connection.execute(
            select(Event.task_index, Event.detail).where(Event.kind == EventKind.SET_ASIDE).order_by(Event.id)
        )
        return [tuple(row) for row in rows]


# -- tasks that end processes ---------------------------------------------------------------------


def test_a_deadly_task_is_set_aside_after_three_deaths(campaign: Campaign) -> None:
    rest = campaign.worker.lease("one", TASKS - 1, HOUR)
    index = ({*range(TASKS)} - {lease.index for lease in rest}).pop()
    assert [dies(campaign, "two", index, f"death {k}") for k in (1, 2, 3, 4)] == [False, False, True, None]
    assert reasons(campaign) == [
        (index, "3 attempts failed or ended their process, by two on host (last: death 3)")
    ]
    assert {task.failures for task in task_records(campaign)} == {0}
    assert campaign.reader.overview().attempts == {Outcome.DIED: 3, "running": TASKS - 1}
    assert campaign.operator.reopen() == 1
    # It counts anew, also for the host on which it failed three times.
    assert [dies(campaign, "two", index) for _ in range(4)] == [False, False, True, None]


def test_a_death_of_the_process_is_no_failure_of_what_it_held_besides(campaign: Campaign) -> None:
    for _ in range(4):
        first, *others = campaign.worker.lease("one", TASKS, HOUR)
        assert not campaign.worker.end([first], Outcome.DIED, "killed")
        campaign.worker.end(others, Outcome.PREEMPTED)
    assert campaign.reader.standing().tasks == {TaskState.READY: TASKS}


def test_a_deadly_task_comes_last_where_it_killed(campaign: Campaign) -> None:
    deadly = campaign.worker.lease("one", 2, HOUR)
    for lease in deadly:
        campaign.worker.end([lease], Outcome.DIED, "killed")
    granted = campaign.worker.lease("two", TASKS, HOUR)
    assert not {lease.index for lease in deadly} & {lease.index for lease in granted}
    # One at a time: a process that dies takes what it holds besides with it.
    assert [len(campaign.worker.lease("one", TASKS, HOUR)) for _ in range(3)] == [1, 1, 0]


def test_where_there_are_several_hosts_it_must_kill_on_two(campaign: Campaign) -> None:
    [third] = campaign.worker.lease("third", 1, HOUR)
    present, *_ = campaign.worker.lease("elsewhere", TASKS - 2, HOUR)
    index = ({*range(TASKS)} - {task.index for task in task_records(campaign, "leased")}).pop()
    assert [dies(campaign, "one", index) for _ in range(4)] == [False, False, False, None]
    assert dies(campaign, "elsewhere", index, "the last death") is True
    assert reasons(campaign) == [
        (
            index,
            "4 attempts failed or ended their process, by one on host, elsewher on another-host "
            "(last: the last death)",
        )
    ]
    assert campaign.worker.renew([present, third], HOUR) == {present.attempt, third.attempt}


def test_a_task_that_waits_for_another_host_in_vain_is_set_aside(campaign: Campaign) -> None:
    others = campaign.worker.lease("elsewhere", TASKS - 1, HOUR)
    index = ({*range(TASKS)} - {lease.index for lease in others}).pop()
    assert [dies(campaign, "one", index) for _ in range(3)] == [False, False, False]
    campaign.worker.deliver(true_deliveries(others))
    assert not campaign.worker.lease("one", TASKS, HOUR)
    assert not reasons(campaign)  # the other host may come back
    with campaign.database.writing() as connection:
        connection.execute(
            update(Worker).where(Worker.id == "elsewhere").values(last_seen=Worker.last_seen - PRESENCE_SECONDS)
        )
    assert not campaign.worker.lease("one", TASKS, HOUR)
    assert [task for task, _ in reasons(campaign)] == [index]


# -- copies at the end ----------------------------------------------------------------------------


def test_idle_workers_get_copies_of_what_is_held_longest(campaign: Campaign) -> None:
    first = campaign.worker.lease("a", 2, HOUR)
    age(campaign, 10.0)
    second = campaign.worker.lease("b", TASKS - 2, HOUR)
    age(campaign, COPY_SECONDS / 2)
    assert not campaign.worker.lease("elsewhere", TASKS, HOUR, [], copies=TASKS)  # too young
    age(campaign, COPY_SECONDS)
    assert not campaign.worker.lease("elsewhere", TASKS, HOUR, [])  # it is not idle
    copies = campaign.worker.lease("elsewhere", TASKS, HOUR, [], copies=3)
    assert {lease.index for lease in first} < {lease.index for lease in copies}
    assert [lease.is_copy for lease in copies] == [True] * 3
    assert not {lease.index for lease in copies} & {
        lease.index for lease in campaign.worker.lease("third", 2, HOUR, [], copies=2)
    }
    assert campaign.reader.standing().tasks == {TaskState.LEASED: TASKS}
    assert {lease.attempt for lease in [*first, *second, *copies]} == campaign.worker.renew(
        [*first, *second, *copies], HOUR
    )


@pytest.mark.parametrize(
    ("who", "how"), [("original", "release"), ("copy", "fail"), ("original", "die"), ("copy", "expire")]
)
def test_one_of_two_attempts_ends_and_the_task_stays_with_the_other(campaign: Campaign, who: str, how: str) -> None:
    held = campaign.worker.lease("a", TASKS, HOUR)
    age(campaign, 2 * COPY_SECONDS)
    [copy] = campaign.worker.lease("b", TASKS, HOUR, [], copies=1)
    original = next(lease for lease in held if lease.index == copy.index)
    ended, left = (original, copy) if who == "original" else (copy, original)
    if how == "release":
        campaign.worker.end([ended])
    elif how == "fail":
        assert not campaign.worker.end([ended], Outcome.FAILED, "boom")
    elif how == "die":
        assert not campaign.worker.end([ended], Outcome.DIED, "killed")
    else:
        campaign.worker.renew([ended], -1)
    assert not campaign.worker.lease("elsewhere", TASKS, HOUR)
    assert task_records(campaign)[copy.index].state == TaskState.LEASED
    age(campaign, 2 * COPY_SECONDS)
    assert copy.index in {
        lease.index for lease in campaign.worker.lease("elsewhere", TASKS, HOUR, [], copies=TASKS)
    }
    assert deliver(campaign, left, TRUE[left.index]) is None
    assert campaign.reader.standing().tasks == {TaskState.DONE: 1, TaskState.LEASED: TASKS - 1}


def test_a_task_is_ready_again_when_both_attempts_have_ended(campaign: Campaign) -> None:
    held = campaign.worker.lease("a", TASKS, HOUR)
    age(campaign, 2 * COPY_SECONDS)
    copies = campaign.worker.lease("b", TASKS, HOUR, [], copies=TASKS)
    campaign.worker.end([*held, *copies])
    assert campaign.reader.standing().tasks == {TaskState.READY: TASKS}


@pytest.mark.parametrize("how", COMPLAINTS)
def test_no_worker_copies_a_task_at_which_it_has_failed_too_often(campaign: Campaign, how: Outcome) -> None:
    """While another one holds it; that one may succeed."""
    campaign.worker.lease("a", TASKS, HOUR)
    age(campaign, 2 * COPY_SECONDS)
    failed = list[int]()
    while len(failed) <= TASKS * FAILURES_BEFORE_SET_ASIDE:
        copies = campaign.worker.lease("b", 1, HOUR, [], copies=1)
        if not copies:
            break
        campaign.worker.end(copies, how, "boom")
        failed.append(copies[0].index)
    assert sorted(failed) == sorted(FAILURES_BEFORE_SET_ASIDE * list(range(TASKS)))
    assert len(campaign.worker.lease("elsewhere", TASKS, HOUR, [], copies=TASKS)) == TASKS


def test_no_worker_copies_its_own_tasks(campaign: Campaign) -> None:
    campaign.worker.lease("a", TASKS, HOUR)
    age(campaign, 2 * COPY_SECONDS)
    assert not campaign.worker.lease("a", TASKS, HOUR, None, copies=TASKS)


# -- clocks ---------------------------------------------------------------------------------------


def test_deadlines_of_a_clock_that_is_right_stay(ledger: Ledger, campaign: Campaign) -> None:
    campaign.worker.lease("a", 2, 60.0)
    campaign.worker.lease("b", 2, 86_400.0)
    with ledger.database.reading() as connection:
        before = connection.scalars(select(Attempt.deadline).order_by(Attempt.id)).all()
    ledger.campaign(campaign.name).worker.lease("third", 0, HOUR)
    with ledger.database.reading() as connection:
        assert connection.scalars(select(Attempt.deadline).order_by(Attempt.id)).all() == before


# -- what an operator takes back ------------------------------------------------------------------


def test_leases_are_taken_back_from_one_worker_or_all(ledger: Ledger, campaign: Campaign) -> None:
    other = ledger.create_campaign("other", campaign.key, [1.0] * TASKS)
    [elsewhere] = other.worker.lease("a", 1, HOUR)
    mine, theirs = campaign.worker.lease("a", 2, HOUR), campaign.worker.lease("b", 2, HOUR)
    assert campaign.operator.take_back("by hand", "a") == 2
    assert campaign.worker.renew([*mine, *theirs], HOUR) == {lease.attempt for lease in theirs}
    assert campaign.operator.take_back("by hand") == 2
    assert campaign.reader.standing().tasks == {TaskState.READY: TASKS}
    assert other.worker.renew([elsewhere], HOUR) == {elsewhere.attempt}
    assert deliver(campaign, mine[0], TRUE[mine[0].index]) is None  # its holder lives
