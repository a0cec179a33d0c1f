"""When workers were seen, how they ended, what they compute with, and when computing began; on both databases."""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import select, update

from db import Campaign, Ledger
from db.campaign.reader import ReaderCampaign
from db.errors import LedgerError, UnknownWorker, WrongToken
from db.identity import Identity, equipment_of
from db.look.overview.records import WorkerState
from db.machines import EQUIPMENT, Machine
from db.schema.models import Attempt, Worker
from db.states import GONE, Ending, EventKind, Outcome, Role
from db.work.presence import NOTE_SECONDS, Presence
from jobs.pools.evaluation import InProcessPool
from jobs.reach.patience import Calls
from jobs.run.loop import Run
from jobs.run.source import TaskSource
from langford.devices import CPU, cores
from tests.support.campaigns import HOUR, NAME, TASKS, TRUE, delivery, terms_of, true_deliveries
from tests.support.clock import HurriedClock
from tests.support.consoles import KeptConsole
from tests.support.enrolling import enrol, leave


def row(ledger: Ledger, worker: str) -> Any:
    """The row of a worker."""
    with ledger.database.reading() as connection:
        return connection.execute(select(Worker.__table__).where(Worker.id == worker)).one()


def forget(ledger: Ledger) -> None:
    """As if all workers had been seen long ago."""
    with ledger.database.writing() as connection:
        connection.execute(update(Worker).values(last_seen=Worker.started - HOUR))


def is_fresh(ledger: Ledger, worker: str) -> bool:
    """Whether a worker was seen since it enrolled."""
    seen = row(ledger, worker)
    return bool(seen.last_seen >= seen.started)


# -- when workers were seen -----------------------------------------------------------------------


def test_what_a_worker_computes_with_is_kept(ledger: Ledger) -> None:
    equipment = Machine("host", "cuda", 96, 4, "NVIDIA H200", "1234", 7).equipment
    enrol(ledger, "gpu", "host", "1", "cuda", **equipment)
    enrol(ledger, "gpu", "host", "1", "cuda")  # a second call changes nothing
    kept = row(ledger, "gpu")
    assert {name: getattr(kept, name) for name in equipment} == equipment
    assert kept.last_seen == pytest.approx(kept.started, abs=1)
    assert (kept.ended, kept.ending) == (None, None)


def test_whoever_leases_or_renews_is_seen(ledger: Ledger, campaign: Campaign) -> None:
    leases = campaign.worker.lease("a", 1, HOUR)
    forget(ledger)
    ledger.campaign(NAME).worker.renew(leases, HOUR)
    assert (is_fresh(ledger, "a"), is_fresh(ledger, "b")) == (True, False)
    ledger.campaign(NAME).worker.lease("b", 1, HOUR)
    assert is_fresh(ledger, "b")


def test_a_server_notes_each_worker_every_few_seconds(ledger: Ledger, campaign: Campaign) -> None:
    now = 1000.0
    ledger.database.now = lambda: now
    campaign = ledger.campaign(NAME)
    leases = campaign.worker.lease("a", 1, HOUR)
    forget(ledger)
    now += NOTE_SECONDS - 1
    campaign.worker.lease("a", 1, HOUR)
    campaign.worker.renew(leases, HOUR)
    assert not is_fresh(ledger, "a")
    campaign.worker.lease("b", 1, HOUR)
    assert is_fresh(ledger, "b")  # another worker has its own time
    now += 1
    campaign.worker.renew(leases, HOUR)
    assert is_fresh(ledger, "a")


def test_the_memory_of_who_was_seen_is_bounded(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("db.work.presence.MAX_REMEMBERED", 3)
    presence = Presence(lambda: now)
    with ledger.database.writing() as connection:
        for number in range(20):
            now += NOTE_SECONDS / 2
            presence.note(connection, [f"w{number}"])
    assert presence.remembered <= 4


def test_results_that_another_delivers_do_not_bring_a_dead_worker_back(ledger: Ledger, campaign: Campaign) -> None:
    leases = campaign.worker.lease("a", 2, HOUR)
    campaign.operator.release_worker("a", "its process is gone")
    assert row(ledger, "a").ending == Ending.LOST
    other = ledger.campaign(NAME)
    assert [receipt.event for receipt in other.worker.deliver(true_deliveries(leases))] == [None, None]
    assert row(ledger, "a").ending == Ending.LOST


# -- how they ended -------------------------------------------------------------------------------


def test_a_worker_says_how_it_ended(ledger: Ledger) -> None:
    enrol(ledger, "w", "host", "1", terms=terms_of("its token"))
    for shown in ("", "another token"):
        with pytest.raises(WrongToken):
            leave(ledger, "w", Ending.FINISHED, terms_of(shown))
    assert row(ledger, "w").ended is None
    leave(ledger, "w", Ending.PREEMPTED, terms_of("its token"))
    left = row(ledger, "w")
    assert left.ending == Ending.PREEMPTED
    assert left.started <= left.last_seen <= left.ended
    with pytest.raises(UnknownWorker, match="enrol it first"):
        leave(ledger, "nobody", Ending.FINISHED)


def test_a_worker_whose_leases_all_expire_is_lost_until_it_asks_again(ledger: Ledger, campaign: Campaign) -> None:
    """Unless it has another lease, or has said how it ended; leases that end in another way lose nobody."""
    for worker in ("holds", "left", "returned"):
        enrol(ledger, worker, "host", "1")
    campaign.worker.end(campaign.worker.lease("returned", 1, HOUR))
    campaign.worker.lease("returned", 1, HOUR)
    assert campaign.operator.take_back("by the operator", "returned") == 1
    campaign.worker.lease("holds", 1, HOUR)
    for worker in ("holds", "a", "left"):
        campaign.worker.lease(worker, 1, -1)
    leave(ledger, "left", Ending.STOPPED)
    campaign.worker.lease("b", 1, HOUR)
    assert campaign.reader.overview().attempts == {"expired": 3, "released": 2, "running": 2}
    endings = {worker: row(ledger, worker).ending for worker in ("a", "b", "holds", "left", "returned")}
    assert endings == {"a": Ending.LOST, "b": None, "holds": None, "left": Ending.STOPPED, "returned": None}
    assert row(ledger, "a").ended > 0
    ledger.campaign(NAME).worker.lease("a", 1, HOUR)
    assert (row(ledger, "a").ended, row(ledger, "a").ending) == (None, None)


@pytest.mark.parametrize(
    ("reason", "ending"),
    [(None, Ending.FINISHED), ("SIGTERM", Ending.PREEMPTED), ("SIGINT", Ending.STOPPED)],
)
def test_a_run_says_how_it_ended(ledger: Ledger, campaign: Campaign, reason: str | None, ending: Ending) -> None:
    me = Identity.fresh([CPU])
    asked = 0

    def stop_reason() -> str | None:
        nonlocal asked
        asked += 1
        return reason if asked > 3 else None

    source = TaskSource(campaign.worker, me, console=KeptConsole(stop_reason))
    report = Run(source, [CPU], KeptConsole(stop_reason), pool_of=InProcessPool).run()
    assert report.stopped == reason
    kept = row(ledger, me.worker_id)
    assert kept.ending == ending
    assert (kept.processes, kept.cores, kept.device_model) == (1, cores(), CPU.model)


def test_a_run_hears_signals_while_the_ledger_gives_no_overview(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answered, waited = threading.Event(), threading.Event(), threading.Event()

    def hang(self: ReaderCampaign) -> None:
        asked.set()
        answered.wait(60)
        waited.set()
        raise LedgerError("no overview")

    console, clock = KeptConsole(lambda: "SIGTERM" if asked.is_set() else None), HurriedClock()
    source = TaskSource(
        Calls(console, clock=clock).through(campaign.worker), Identity.fresh([CPU]), None, console, clock=clock
    )
    assert source.ready
    monkeypatch.setattr(ReaderCampaign, "overview", hang)
    clock.move(HOUR)
    source.attend([], {})
    assert asked.is_set()
    assert not waited.is_set()
    answered.set()


def test_a_run_that_ends_with_an_error_was_stopped(ledger: Ledger, campaign: Campaign) -> None:
    me = Identity.fresh([CPU])
    source = TaskSource(campaign.worker, me)

    class Broken(InProcessPool):
        def submit(self, token: int, index: int) -> None:
            raise UnknownWorker("something is wrong")

    with pytest.raises(UnknownWorker):
        Run(source, [CPU], pool_of=Broken).run()
    assert row(ledger, me.worker_id).ending == Ending.STOPPED


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (None, None)),
        ({"SLURM_JOB_ID": "77"}, ("77", None)),
        ({"SLURM_JOB_ID": "79", "SLURM_ARRAY_JOB_ID": "77", "SLURM_ARRAY_TASK_ID": "2"}, ("77", 2)),
        ({"SLURM_JOB_ID": "7" * 99, "SLURM_ARRAY_TASK_ID": "all"}, ("7" * 40, None)),
    ],
)
def test_a_job_of_slurm_is_known(environment: dict[str, str], expected: tuple[str | None, int | None]) -> None:
    equipment = equipment_of([CPU, CPU], environment)
    assert (equipment["slurm_job"], equipment["slurm_index"]) == expected
    assert (equipment["processes"], equipment["device_model"]) == (2, CPU.model)


def test_who_computes_nothing_has_no_equipment() -> None:
    assert equipment_of([], {"SLURM_JOB_ID": "7"}) == dict.fromkeys(EQUIPMENT)


# -- when computing began -------------------------------------------------------------------------


def attempts(ledger: Ledger) -> list[Any]:
    with ledger.database.reading() as connection:
        return list(connection.execute(select(Attempt.__table__).order_by(Attempt.id)))


BEGAN: list[tuple[Callable[[Any], float | None], Callable[[Any], float | None]]] = [
    (lambda attempt: None, lambda attempt: None),
    (lambda attempt: attempt.granted + 1.25, lambda attempt: attempt.granted + 1.25),
    (lambda attempt: attempt.granted - 3600, lambda attempt: attempt.granted),
    (lambda attempt: attempt.granted + 3600, lambda attempt: attempt.ended),
]


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "further"])
def test_computing_began_between_grant_and_result(ledger: Ledger, campaign: Campaign, is_first: bool) -> None:
    leases = campaign.worker.lease("a", len(BEGAN), HOUR)
    if not is_first:
        campaign.operator.raise_share(1.0)
        campaign.worker.deliver(true_deliveries(leases))
        leases = campaign.worker.lease("b", len(BEGAN), HOUR)
    with ledger.database.writing() as connection:  # the leases began a minute ago
        connection.execute(update(Attempt).values(granted=Attempt.granted - 60))
    running = {attempt.id: attempt for attempt in attempts(ledger)}
    handed_in = []
    for lease, (told, _) in zip(leases, BEGAN, strict=True):
        made = delivery(lease, TRUE[lease.index])
        began = told(running[lease.attempt])
        handed_in.append(structs.replace(made, began=began))
    receipts = campaign.worker.deliver(handed_in)
    assert {receipt.event for receipt in receipts} == {None if is_first else EventKind.CONFIRMED}
    by_number = {attempt.id: attempt for attempt in attempts(ledger)}
    ended = [by_number[lease.attempt] for lease in leases]
    assert {attempt.outcome for attempt in ended} == {Outcome.DONE if is_first else Outcome.SUPERSEDED}
    for attempt, (_, expected) in zip(ended, BEGAN, strict=True):
        assert attempt.began == pytest.approx(expected(attempt), abs=0.5)


def test_a_result_says_when_its_computing_began(ledger: Ledger, campaign: Campaign) -> None:
    source = TaskSource(campaign.worker, Identity.fresh([CPU]))
    Run(source, [CPU], pool_of=InProcessPool).run()
    done = attempts(ledger)
    assert len(done) == TASKS
    for attempt in done:
        assert attempt.granted <= attempt.began <= attempt.ended


@pytest.mark.parametrize("with_token", [True, False])
def test_only_processes_that_open_the_ledger_here_are_looked_at(
    ledger: Ledger, campaign: Campaign, with_token: bool
) -> None:
    """The name of this host is a claim of whoever has a token: a container's, or a liar's."""
    token = campaign.operator.new_token(Role.WORKER) if with_token else ""
    mine, gone = campaign.worker.on(terms_of(token)), "1@1@0000"
    enrol(ledger, "here", platform.node(), gone, terms=terms_of(token))
    held = mine.lease("here", 2, HOUR)
    [worker] = [each for each in campaign.reader.overview().workers if each.worker_id == "here"]
    assert (worker.state, worker.ending) == (
        (WorkerState.WORKING, None) if with_token else (WorkerState.ENDED, GONE)
    )
    campaign.operator.expire_the_dead()
    assert mine.renew(held, HOUR) == ({lease.attempt for lease in held} if with_token else set())
