"""Several processes at one ledger at the same moment, and what travels in bulk."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from db import Campaign, Export, Ledger
from db.schema.models import Attempt, Voter, Worker
from db.states import EventKind, TaskState
from db.store.connections import prepare_new
from langford.arithmetic.residue import residue
from langford.methods import plan_of
from langford.result import Evaluation, Expectation, PartialResult
from tests.support.campaigns import (
    HOUR,
    KEY,
    NAME,
    PLAN,
    TASKS,
    TRUE,
    delivery,
    events,
    finish,
    forged,
    new_campaign,
    task_records,
)
from tests.support.databases import fresh_database, new_ledger
from tests.support.enrolling import enrol

RIVALS = 4


def together(act: Callable[[int], Any]) -> list[Any]:
    """What each of the rivals gets who act at the same moment."""
    barrier = Barrier(RIVALS)

    def rival(number: int) -> Any:
        barrier.wait()
        return act(number)

    with ThreadPoolExecutor(RIVALS) as pool:
        return list(pool.map(rival, range(RIVALS)))


def at_once(ledger: Ledger, act: Callable[[Campaign, int], Any]) -> list[Any]:
    """The same, each on a ledger of its own."""
    with ExitStack() as stack:
        campaigns = [stack.enter_context(Ledger(ledger.database.where)).campaign(NAME) for _ in range(RIVALS)]
        return together(lambda number: act(campaigns[number], number))


BOTH = pytest.mark.parametrize("ledger", ["sqlite", "postgres"], indirect=True)


def test_a_file_that_another_process_makes_just_now_is_no_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ledger.db"

    def access(asked: Path, mode: int) -> bool:
        """Nobody may write a file that is not there; and now it is there."""
        is_there = asked.exists()
        if asked == file:
            file.touch()
        return is_there

    monkeypatch.setattr(os, "access", access)
    with Ledger(str(file), create=True) as ledger:
        assert ledger.create_campaign(NAME, KEY, [1.0] * TASKS).tasks == TASKS


@pytest.mark.parametrize(("reason", "times"), [("database is locked", 3), ("disk I/O error", 1)])
def test_what_sqlite_does_not_wait_for_is_tried_again(reason: str, times: int) -> None:
    class Cursor:
        """Fails twice."""

        tried = 0

        def execute(self, statement: str) -> None:
            Cursor.tried += 1
            if Cursor.tried < 3:
                raise sqlite3.OperationalError(reason)

    raw = SimpleNamespace(cursor=Cursor, close=lambda: None)
    engine: Any = SimpleNamespace(dialect=SimpleNamespace(name="sqlite"), raw_connection=lambda: raw)
    with nullcontext() if times > 1 else pytest.raises(OperationalError, match=reason):
        prepare_new(engine)
    assert Cursor.tried == times


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_everything_is_made_once_when_all_make_it_at_the_same_moment(kind: str, tmp_path: Path) -> None:
    """The ledger itself, its campaign, a worker, and the same exported results taken in."""
    where = fresh_database(kind, tmp_path)

    def make(number: int) -> tuple[str, str]:
        with Ledger(where, create=True) as ledger:
            return ledger.uuid, ledger.create_campaign(NAME, KEY, [1.0] * TASKS).uuid

    assert len(set(together(make))) == 1
    evaluations = [Evaluation(result, 0.25, "{}") for result in TRUE]
    export = Export("imported", KEY, TASKS, tuple(evaluations))
    ledgers = [Ledger(where) for _ in range(RIVALS)]

    def enrol_all(number: int) -> None:
        for worker in range(20):
            enrol(ledgers[number], f"worker {worker}", "host", "1")

    together(enrol_all)
    taken = together(lambda number: ledgers[number].take(export, PLAN, f"importer {number}", "host", "1")[1])
    assert sum(events.count(None) for events in taken if events) == TASKS
    assert {event for events in taken for event in events} <= {None, EventKind.CONFIRMED}
    assert ledgers[0].campaign(NAME).reader.standing().tasks == {TaskState.READY: TASKS}
    assert ledgers[0].campaign("imported").reader.standing().tasks == {TaskState.DONE: TASKS}
    with ledgers[0].database.reading() as connection:
        names = connection.scalars(select(Worker.id)).all()
    assert sum(name.startswith("worker") for name in names) == 20
    for ledger in ledgers:
        ledger.close()


@BOTH
def test_workers_that_enrol_at_the_same_moment_are_one_voter(ledger: Ledger) -> None:
    """Else a machine that is caught with a lie would go on as the other voter."""
    with ExitStack() as stack:
        ledgers = [stack.enter_context(Ledger(ledger.database.where)) for _ in range(RIVALS)]
        for host in range(10):
            together(lambda number, host=host: enrol(ledgers[number], f"{host} {number}", f"host {host}", "1"))  # type: ignore[misc]
    with ledger.database.reading() as connection:
        hosts = connection.scalars(select(Voter.host)).all()
        voters = connection.scalars(select(Worker.voter_id)).all()
    assert sorted(hosts) == [f"host {host}" for host in range(10)]
    assert set(Counter(voters).values()) == {RIVALS}


def test_a_transaction_that_is_undone_for_a_deadlock_is_tried_again(tmp_path: Path) -> None:
    with new_ledger("postgres", tmp_path) as ledger, ThreadPoolExecutor(1) as pool:
        campaign = new_campaign(ledger)
        first, second = campaign.worker.lease("a", 2, HOUR)
        with ledger.database.engine.connect() as rival:
            note = "UPDATE attempt SET note = 'mine' WHERE id = "
            rival.exec_driver_sql("SET LOCAL deadlock_timeout = '30s'")  # the other one will be undone
            rival.exec_driver_sql(f"{note} {second.attempt}")
            released = pool.submit(campaign.worker.end, [first, second])
            while released.running() and not waits(ledger):
                time.sleep(0.05)
            rival.exec_driver_sql(f"{note} {first.attempt}")
            rival.commit()
        released.result(60)
        assert campaign.reader.standing().tasks == {TaskState.READY: TASKS}
        with ledger.database.reading() as connection:
            assert set(connection.scalars(select(Attempt.note))) == {"mine"}


def waits(ledger: Ledger) -> bool:
    """Whether a transaction waits for another one."""
    with ledger.database.reading() as connection:
        return bool(connection.exec_driver_sql("SELECT count(*) FROM pg_locks WHERE NOT granted").scalar())


@BOTH
@pytest.mark.parametrize("drawn", [False, True])
def test_claims_at_the_same_moment_are_exclusive(ledger: Ledger, campaign: Campaign, drawn: bool) -> None:
    """Of tasks, and of results that are drawn."""
    if drawn:
        enrol(ledger, "c", "host-c", "1")
        finish(campaign, "c")
        campaign.operator.raise_share(1.0)
    before = campaign.reader.overview().attempts

    def claim(mine: Campaign, number: int) -> list[int]:
        claimed: list[int] = []
        while leases := mine.worker.lease("ab"[number % 2], 3, HOUR):
            claimed += [lease.index for lease in leases]
        return claimed

    claimed = [index for each in at_once(ledger, claim) for index in each]
    assert (sorted(claimed), campaign.reader.overview().attempts) == (
        list(range(TASKS)),
        {**before, "running": TASKS},
    )


@BOTH
@pytest.mark.parametrize("lying", [False, True])
def test_results_at_the_same_moment_count_once(ledger: Ledger, campaign: Campaign, lying: bool) -> None:
    """Each rival holds an attempt at every task; they hand in all at once, in different orders."""
    attempts = [campaign.worker.lease("ab"[number % 2], TASKS, -1) for number in range(RIVALS)]
    assert {len(each) for each in attempts} == {TASKS}

    def hand_in(mine: Campaign, number: int) -> list[EventKind | None]:
        shown = random.Random(number).sample(attempts[number], TASKS)
        results = [forged(each.index) if lying and number == 1 else TRUE[each.index] for each in shown]
        return events(mine, [delivery(each, result) for each, result in zip(shown, results, strict=True)])

    counted = Counter(event for own in at_once(ledger, hand_in) for event in own)
    assert counted[None] == TASKS
    assert counted[EventKind.CONFIRMED] + counted[EventKind.CONFLICT] == (RIVALS - 1) * TASKS
    assert (counted[EventKind.CONFLICT] > 0) == lying
    assert campaign.reader.standing().tasks == {TaskState.DONE: TASKS}
    if not lying:
        assert campaign.reader.results() == TRUE


@BOTH
def test_whatever_is_handed_in_is_kept(ledger: Ledger, campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = ledger.create_campaign("many", KEY, [1.0] * 5000)
    campaign.plan = plan_of(KEY)
    monkeypatch.setattr(campaign.plan, "expectation", lambda index: Expectation(0, -(10**60), 10**60))

    @settings(max_examples=15)
    @given(
        value=st.integers(-(10**60), 10**60),
        seconds=st.floats(0, 1e9),
        provenance=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    )
    def keep(value: int, seconds: float, provenance: str) -> None:
        [lease] = campaign.worker.lease("a", 1, HOUR)
        result = PartialResult(lease.index, value, residue(value), abs(value))
        assert events(campaign, [delivery(lease, result, seconds, provenance)]) == [None]
        [kept] = [task for task in task_records(campaign, TaskState.DONE) if task.index == lease.index]
        numbers = result.value, result.residue, result.evaluated
        assert (kept.value, kept.residue, kept.evaluated) == tuple(map(str, numbers))
        assert kept.seconds == pytest.approx(seconds, rel=1e-14)
        assert kept.provenance == provenance

    keep()
