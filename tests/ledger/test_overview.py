"""Overviews of histories whose answers are known; tests/farm/test_one_answer.py asks Postgres, too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text, update

from db import Campaign, Export, Lease, Ledger, messages
from db.look.overview import facts, gathering, room, worker_queries
from db.look.overview.facts import GONE_SECONDS
from db.look.overview.records import Overview, Warned, WarningKind, WorkerState, WorkerView
from db.messages import converted
from db.schema.dialects import Now
from db.schema.models import Attempt, Worker
from db.states import Ending, Outcome, Role
from jobs.show.wording import in_a_line
from langford.cli.output.overviews import lines_of
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from langford.result import Evaluation
from tests.support.campaigns import (
    HOUR,
    KEY,
    NAME,
    PLAN,
    TASKS,
    TRUE,
    delivery,
    finish,
    forged,
    pace,
    terms_of,
    with_token,
)
from tests.support.database_clock import moved_clock
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol, leave
from tests.support.statements import statements_of

LARGER = plan_of(PlanKey(Problem.langford(12), "polyphase", 12))


class History:
    """Campaigns to which things happened some seconds ago; the clock stands while a test prepares them."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.campaign: Campaign = self.ledger.create_campaign(NAME, KEY, PLAN.work.tolist())

    def enlarge(self) -> None:
        """Go on with a campaign of more tasks."""
        self.campaign = self.ledger.create_campaign("larger", LARGER.key, LARGER.work.tolist())

    def change(self, table: Any, condition: Any, **ages: float | None) -> None:
        """Write times into some rows, each as its age in seconds."""
        values = {name: None if age is None else Now() - age for name, age in ages.items()}
        with self.ledger.database.writing() as connection:
            connection.execute(update(table).where(condition).values(**values))

    def come(self, worker: str, age: float, host: str = "", token: str = "", **equipment: Any) -> None:
        """A worker came, and was seen just now."""
        enrol(self.ledger, worker, host or f"host-{worker}", "1", terms=terms_of(token), **equipment)
        self.change(Worker, Worker.id == worker, started=age, last_seen=0.0)

    def lease(self, worker: str, count: int, age: float, token: str = "") -> list[Lease]:
        """A worker got leases."""
        leases = with_token(self.campaign, token).lease(worker, count, HOUR)
        for lease in leases:
            self.change(Attempt, Attempt.id == lease.attempt, granted=age)
        return leases

    def deliver(self, lease: Lease, age: float, began: float | None = None, seconds: float = 0.5) -> None:
        """The result of a lease arrived, computed in some seconds."""
        result = self.campaign.plan.evaluate(lease.index)
        self.campaign.worker.deliver([delivery(lease, result, seconds)])
        self.change(Attempt, Attempt.id == lease.attempt, ended=age, began=began)

    def seen(self, worker: str, age: float) -> None:
        self.change(Worker, Worker.id == worker, last_seen=age)

    def look(self) -> Overview:
        """The overview, which its document says as a whole."""
        overview = self.campaign.reader.overview()
        assert messages.document(converted(messages.document(overview), Overview)) == messages.document(overview)
        return overview


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with moved_clock() as clock, new_ledger("sqlite", tmp_path) as ledger:
        clock.stop()
        yield History(ledger)


def work(leases: Sequence[Lease]) -> float:
    return sum(lease.work for lease in leases)


def warned(overview: Overview, kind: WarningKind) -> str | None:
    """The text of the only warning of a kind; None: there is none."""
    texts = [warning.text for warning in overview.warnings if warning.kind is kind]
    assert len(texts) < 2
    return texts[0] if texts else None


def worker(overview: Overview, name: str) -> WorkerView:
    [view] = [view for view in overview.workers if view.worker_id == name]
    return view


def test_nothing_has_happened(history: History) -> None:
    overview = history.look()
    assert (overview.tasks.total, overview.tasks.ready, overview.tasks.done) == (TASKS, TASKS, 0)
    assert (overview.work.total, overview.work.ready) == (1, pytest.approx(1))
    assert (overview.speed.now, overview.speed.average, overview.eta, overview.finished) == (None,) * 4
    assert (overview.workers, overview.timeline, overview.count) == ((), (), None)
    assert [event.kind for event in overview.events] == ["created"]
    assert warned(overview, WarningKind.NO_WORKERS) is None
    # A ledger may have thousands of such campaigns.
    with statements_of() as asked:
        history.campaign.reader.overview()
    assert len(asked) <= 5


def test_only_a_lost_last_worker_is_missed(history: History) -> None:
    """A campaign is paused when its workers ended as they were told to."""
    for name, ending, age in (("a", Ending.STOPPED, 50), ("b", Ending.LOST, 40)):
        history.come(name, 100)
        history.campaign.worker.end(history.lease(name, 2, 90), Outcome.RELEASED, "SIGINT")
        leave(history.ledger, name, ending)
        history.change(Attempt, Attempt.worker_id == name, ended=age)
        history.change(Worker, Worker.id == name, last_seen=age, ended=age)
        text = warned(history.look(), WarningKind.NO_WORKERS)
        assert (text is None) == (ending is Ending.STOPPED)
    assert "langford work" in str(text)


def test_what_happened_to_the_workers(history: History) -> None:
    for number, name in enumerate(("stopped", "lost", "limited", "alive")):
        history.come(name, 100 - number, device_model="NVIDIA H200", processes=2)
    campaign, ledger = history.campaign, history.ledger
    campaign.worker.end(history.lease("stopped", 2, 90), Outcome.PREEMPTED, "SIGTERM")
    leave(ledger, "stopped", Ending.PREEMPTED)
    campaign.worker.end(history.lease("limited", 1, 80), Outcome.RELEASED, "time limit")
    leave(ledger, "limited", Ending.STOPPED)
    [fatal, late] = history.lease("alive", 2, 70)
    campaign.worker.end([fatal], Outcome.DIED, "signal 9")
    for lease in (late, *history.lease("lost", 2, 60)):
        history.change(Attempt, Attempt.id == lease.attempt, deadline=10)
    finish(campaign, "alive")
    leave(ledger, "alive", Ending.FINISHED)
    seen = {(event.kind, event.text) for event in history.look().events}
    machine = "NVIDIA H200, 2 processes"
    assert seen == {
        ("created", ""),
        *(("joined", f"{name[:8]} on host-{name}: {machine}") for name in ("stopped", "lost", "limited", "alive")),
        ("left", "stopped on host-stopped: stopped by SIGTERM, gave back 2 tasks"),
        ("left", "limited on host-limited: stopped (time limit), gave back 1 task"),
        ("left", "lost on host-lost: ended without notice; 2 leases expired"),
        ("left", "alive on host-alive: no tasks were left for it"),
        ("expired", "alive on host-alive: 1 lease"),
        ("died", f"alive on host-alive, task {fatal.index}: signal 9"),
        ("done", f"{TASKS} tasks"),
    }


@pytest.mark.exhaustive
def test_a_fast_campaign_is_measured_over_a_short_time(history: History) -> None:
    history.enlarge()
    history.come("a", 5000)
    leases = history.lease("a", 50, 4000)
    for lease in leases[:15]:
        history.deliver(lease, 3000)
    for lease in leases[15:]:
        history.deliver(lease, 4)
    overview = history.look()
    assert overview.speed.seconds == 10
    assert overview.speed.now == pytest.approx(work(leases[15:]) / 10, rel=1e-9)
    assert overview.speed.tasks_per_minute_now == pytest.approx(35 * 6)


def test_a_pause_is_not_slow(history: History) -> None:
    history.come("old", 40_000)
    leases = history.lease("old", 5, 39_000)
    for lease in leases:
        history.deliver(lease, 36_000)
    leave(history.ledger, "old", Ending.FINISHED)
    history.change(Worker, Worker.id == "old", ended=36_000)
    history.come("new", 30)
    [lease] = history.lease("new", 1, 20)
    history.deliver(lease, 10)
    overview = history.look()
    assert overview.speed.seconds == pytest.approx(30)
    assert overview.speed.now == pytest.approx(lease.work / 30)
    assert overview.speed.average == pytest.approx((work(leases) + lease.work) / 38_990)
    assert (worker(overview, "old").state, worker(overview, "old").speed) == (WorkerState.ENDED, None)
    assert [view.worker_id for view in overview.workers] == ["new", "old"]


def test_devices_are_compared_with_those_of_the_same_model(history: History) -> None:
    history.enlarge()
    seconds = {"a": 1.0, "b": 1.0, "c": 1.25, "d": 2.5}
    for name, factor in {**seconds, "other": 9.0}.items():
        history.come(name, 100, device_model="NVIDIA A100" if name == "other" else "NVIDIA H200", slurm_job="12")
        for lease in history.lease(name, 6, 90):
            history.deliver(lease, 80, seconds=lease.work * factor)
    history.come("new", 100, device_model="NVIDIA H200", slurm_job="12", slurm_index=7)
    for lease in history.lease("new", 4, 90):
        history.deliver(lease, 80, seconds=lease.work)
    overview = history.look()
    ratios = {view.worker_id: view.against_peers for view in overview.workers}
    # Against the median of the three others; fewer than five results say nothing.
    expected = {"a": 1 / 0.8, "b": 1 / 0.8, "c": 0.8, "d": 0.4}
    assert ratios == {
        **{name: pytest.approx(ratio) for name, ratio in expected.items()},
        "other": None,
        "new": None,
    }
    text = str(warned(overview, WarningKind.SLOW_DEVICE))
    assert text.startswith("d on host-d (SLURM 12) computes at 40% of the speed of other workers with NVIDIA H200")
    assert worker(overview, "new").slurm == "12_7"
    assert worker(overview, "new").device_model == "NVIDIA H200"


def test_times_that_no_clock_shows_say_nothing_of_a_speed(history: History) -> None:
    history.enlarge()
    for name, seconds in {"a": 0.0, "b": 0.0, "c": 0.0, "nothing": 1e-320, "years": 9e29, "most": 1.7e308}.items():
        history.come(name, 100, device_model="NVIDIA H200", processes=1)
        for lease in history.lease(name, 6, 90):
            history.deliver(lease, 80, began=85, seconds=seconds or lease.work)
        history.lease(name, 1, 1)
    document = messages.document(history.look())
    json.dumps(document, allow_nan=False)
    ratios = {view["id"]: view["against_peers"] for view in document["workers"]}
    assert ratios == {**dict.fromkeys("abc", pytest.approx(1.0)), "nothing": None, "years": None, "most": None}
    assert pace(history.campaign) == pytest.approx(1.0)


def test_who_is_here(history: History) -> None:
    for name in ("working", "idle", "quiet", "silent", "gone", "left", "late"):
        history.come(name, 9000)
        history.lease(name, 1, 8000)
    for name in ("idle", "quiet", "gone", "left"):
        with history.ledger.database.reading() as connection:
            [attempt] = connection.scalars(select(Attempt.id).where(Attempt.worker_id == name))
        history.campaign.operator.take_back("for others", name)
        history.change(Attempt, Attempt.id == attempt, ended=7900)
    leave(history.ledger, "left", Ending.PREEMPTED)
    for name, age in (("idle", 60), ("quiet", 200), ("silent", 2000), ("gone", 5000), ("late", 1700)):
        history.seen(name, age)
    overview = history.look()
    states = {view.worker_id: view.state for view in overview.workers}
    assert states == {
        "working": WorkerState.WORKING,
        "idle": WorkerState.IDLE,
        "quiet": WorkerState.SILENT,
        "silent": WorkerState.SILENT,  # its leases last for an hour, half of which is over
        "gone": WorkerState.ENDED,
        "left": WorkerState.ENDED,
        "late": WorkerState.WORKING,
    }
    assert worker(overview, "left").ending == "preempted"
    assert worker(overview, "silent").leased == 1
    text = str(warned(overview, WarningKind.SILENT_WORKER))
    assert "quiet on host-quiet, silent on host-silent are silent, with 1 task" in text
    assert f"langford release {NAME} --worker quiet" in text
    assert warned(overview, WarningKind.NO_WORKERS) is None
    history.seen("silent", GONE_SECONDS + 400)
    assert worker(history.look(), "silent").state is WorkerState.SILENT  # not gone: it has a lease


def test_how_many_workers_were_there(history: History) -> None:
    for name, age in (("silent", 1000), ("here", 700), ("left", 600)):
        history.come(name, age)
        history.campaign.worker.end(history.lease(name, 1, age))
    history.change(Attempt, Attempt.ended.is_not(None), ended=500)
    history.seen("silent", 400)
    leave(history.ledger, "left", Ending.STOPPED)
    history.change(Worker, Worker.id == "left", ended=300)
    history.seen("here", 0)
    overview = history.look()
    assert len(overview.timeline) == 100
    there = {int((overview.now - at) / 10): number for at, number in overview.timeline}
    for age, number in {950: 1, 710: 1, 690: 2, 610: 2, 590: 3, 410: 3, 390: 2, 310: 2, 290: 1, 0: 1}.items():
        assert there[age // 10] == number, age


def test_what_disagrees_and_who_is_trusted_no_more(history: History) -> None:
    history.campaign.operator.raise_share(1.0)
    for name in ("liar", "b"):
        history.come(name, 100)
    leases = history.lease("liar", TASKS, 90)
    history.campaign.worker.deliver([delivery(lease, forged(lease.index)) for lease in leases])
    [recheck] = history.lease("b", 1, 50)
    assert recheck.index in {lease.index for lease in leases}
    history.deliver(recheck, 40)
    overview = history.look()
    assert overview.checked.conflicts == 1
    text = str(warned(overview, WarningKind.CONFLICT))
    assert f"1 task has results that disagree ({recheck.index})" in text
    assert f"langford verify {NAME} --waiting" in text
    assert (overview.finished, overview.count) == (None, None)
    assert "confirm" not in {event.kind for event in overview.events}
    history.come("c", 30)
    for lease in history.lease("c", TASKS, 20):
        history.deliver(lease, 10)
    overview = history.look()
    assert worker(overview, "liar").state is WorkerState.DISTRUSTED
    assert "liar on host-liar" in str(warned(overview, WarningKind.DISTRUSTED))
    assert warned(overview, WarningKind.CONFLICT) is None or overview.checked.conflicts


def test_rechecks_wait_for_an_independent_worker(history: History) -> None:
    history.campaign.operator.raise_share(1.0)
    history.come("a", 100)
    finish(history.campaign, "a")
    history.come("twin", 90, host="host-a")
    overview = history.look()
    assert (overview.tasks.done, overview.tasks.recheck, overview.work.recheck) == (TASKS, TASKS, pytest.approx(1))
    assert (overview.checked.drawn, overview.checked.replicated) == (TASKS, 0)
    # One that has no lease is not known to be of this campaign.
    text = str(warned(overview, WarningKind.RECHECK_WITHOUT_SECOND_WORKER))
    assert text.startswith(f"{TASKS} results wait to be evaluated again, and no active worker may do it")
    history.come("b", 50)
    [lease] = history.lease("b", 1, 40)
    overview = history.look()
    assert warned(overview, WarningKind.RECHECK_WITHOUT_SECOND_WORKER) is None
    history.deliver(lease, 30)
    finish(history.campaign, "b")
    overview = history.look()
    assert (overview.checked.replicated, overview.checked.confirmed, overview.tasks.recheck) == (TASKS, TASKS, 0)
    assert overview.attempts == {"done": TASKS, "superseded": TASKS}


def test_tasks_that_are_set_aside(history: History) -> None:
    history.come("a", 100)
    for _ in range(3):
        [lease] = history.lease("a", 1, 90)
        history.campaign.worker.end([lease], Outcome.FAILED, "boom")
    overview = history.look()
    assert overview.tasks.set_aside == 1
    assert f"langford retry {NAME}" in str(warned(overview, WarningKind.SET_ASIDE))
    finish(history.campaign, "a")
    overview = history.look()
    assert (overview.tasks.done, overview.finished, overview.eta) == (TASKS - 1, None, None)


def test_a_finished_campaign(history: History) -> None:
    history.come("a", 100)
    for lease in history.lease("a", TASKS, 90):
        history.deliver(lease, 50)
    overview = history.look()
    assert (overview.count, overview.agrees, overview.eta, overview.speed.now) == (26, True, None, None)
    assert overview.finished is not None
    assert overview.now - overview.finished == pytest.approx(50)
    assert overview.speed.average == pytest.approx(sum(PLAN.work) / 40)
    assert overview.timeline[-1][0] <= overview.finished
    assert overview.warnings == ()
    history.campaign.operator.question([3])
    overview = history.look()
    assert (overview.finished, overview.count, overview.agrees) == (None, None, None)


def test_imports_and_verdicts_are_no_workers(history: History) -> None:
    results = tuple(Evaluation(result, 0.5, "{}") for result in TRUE)
    history.ledger.take(Export(NAME, KEY, TASKS, results), PLAN, "importer", "host", "1")
    overview = history.look()
    assert (overview.workers, overview.count, overview.speed.average) == ((), 26, None)
    assert overview.finished is not None


@pytest.fixture(params=[worker_queries.FEW_ATTEMPTS, 0], ids=["few", "many"])
def attempts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A campaign has few attempts, or so many that they are not read for its workers."""
    monkeypatch.setattr(worker_queries, "FEW_ATTEMPTS", request.param)


@pytest.mark.usefixtures("attempts")
def test_another_campaign_of_the_ledger_is_not_mixed_in(history: History) -> None:
    history.come("a", 100)
    first = history.lease("a", 2, 90)
    seven = history.campaign
    history.enlarge()
    history.come("b", 100)
    [lease, *_] = history.lease("b", 2, 90)
    history.deliver(lease, 40)
    larger = history.look()
    assert [view.worker_id for view in larger.workers] == ["b"]
    assert larger.attempts == {"done": 1, "running": 1}
    history.campaign = seven
    overview = history.look()
    assert [view.worker_id for view in overview.workers] == ["a"]
    assert (overview.attempts, overview.speed.now) == ({"running": len(first)}, None)


@pytest.mark.usefixtures("attempts")
def test_who_holds_leases_in_two_campaigns_is_shown_by_both(history: History) -> None:
    """Also where the lease in one of them is overdue."""
    history.come("a", 100)
    given_back, overdue = history.lease("a", 2, 90)
    history.campaign.worker.end([given_back])
    seven = history.campaign
    history.enlarge()
    history.lease("a", 1, 60)
    history.change(Attempt, Attempt.id == overdue.attempt, deadline=1.0)
    for campaign in (history.campaign, seven):
        assert [(view.worker_id, view.leased) for view in campaign.reader.overview().workers] == [("a", 1)]
    assert history.look().attempts == {"running": 1}


def test_what_a_worker_did_in_another_campaign_is_not_counted(history: History) -> None:
    history.come("a", 100)
    for lease in history.lease("a", 2, 90):
        history.deliver(lease, 40)
    first = history.campaign
    history.enlarge()
    done, given_back = history.lease("a", 2, 30)
    history.deliver(done, 10)
    history.campaign.worker.end([given_back])
    seen = [campaign.reader.overview() for campaign in (first, history.campaign)]
    assert [(each.attempts, each.workers[0].done) for each in seen] == [
        ({"done": 2}, 2),
        ({"done": 1, "released": 1}, 1),
    ]
    assert [each.speed.tasks_per_minute_now for each in seen] == pytest.approx([1.2, 0.6])


def instructions_for_an_overview(campaign: Campaign) -> int:
    """Of SQLite's virtual machine."""
    instructions: list[None] = []
    with campaign.database.reading() as connection:
        raw: Any = connection.connection.driver_connection
    raw.set_progress_handler(partial(instructions.append, None), 1)
    campaign.reader.overview()
    raw.set_progress_handler(None, 0)
    return len(instructions)


DONE = """
INSERT INTO attempt (campaign_id, task_index, worker_id, granted, began, deadline, ended, outcome)
SELECT campaign_id, task_index, :worker, 1, 2, 3, 3, 'done' FROM task WHERE campaign_id = :campaign;
INSERT INTO result (campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance, accepted,
voter_id, drawn)
SELECT attempt.campaign_id, task_index, attempt.id, '0', '0', '1', 1, '{}', 3, voter_id, false
FROM attempt JOIN worker ON worker.id = worker_id WHERE outcome = 'done' AND attempt.campaign_id = :campaign;
UPDATE task SET state = 'done' WHERE campaign_id = :campaign
"""
"""All tasks of a campaign are done by one worker, and no result is drawn."""


@pytest.mark.parametrize(("script", "most"), [("", 15), (DONE, 35)], ids=["ready", "done"])
def test_an_overview_reads_each_task_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, most: int
) -> None:
    """In one query or few: a campaign may have millions.  ``most``: instructions for each."""
    monkeypatch.setattr(worker_queries, "FEW_ATTEMPTS", 0)
    history, costs, numbers = History(new_ledger("sqlite", tmp_path)), list[int](), (1_000, 9_000)
    for tasks in numbers:
        campaign, worker = history.ledger.create_campaign(f"of-{tasks}", KEY, [1.0] * tasks), f"of-{tasks}"
        campaign.operator.raise_share(0.02)
        history.come(worker, 100)
        campaign.worker.lease(worker, 1, HOUR)
        with history.ledger.database.writing() as connection:
            for statement in filter(None, script.split(";")):
                connection.execute(text(statement), {"campaign": campaign.campaign_id, "worker": worker})
        costs.append(instructions_for_an_overview(campaign))
    history.ledger.close()
    assert costs[1] - costs[0] < most * (numbers[1] - numbers[0])


@pytest.mark.parametrize("present", [False, True])
def test_an_overview_costs_the_same_beside_large_campaigns(tmp_path: Path, present: bool) -> None:
    """Also beside those whose workers hold leases, and deliver results."""
    history = History(new_ledger("sqlite", tmp_path))
    history.come("a", 100)
    history.deliver(history.lease("a", 1, 90)[0], 40)
    if not present:
        leave(history.ledger, "a", Ending.FINISHED)
    small, costs = history.campaign, list[int]()
    for _ in range(2):
        costs.append(instructions_for_an_overview(small))
        history.enlarge()
        history.come("b", 100)
        leases = history.lease("b", len(LARGER.work), 90)
        if present:
            results = [LARGER.evaluate(lease.index) for lease in leases[1:]]
            history.campaign.worker.deliver([delivery(*each) for each in zip(leases[1:], results, strict=True)])
        else:
            history.campaign.worker.end(leases)
    history.ledger.close()
    assert costs[1] < costs[0] + 2 * len(LARGER.work)


def test_a_worker_is_not_named_as_a_whole(history: History) -> None:
    """Its whole UUID is a secret between it and the server."""
    whole, token = "0f3a29c4-7fb4-4df1-9f00-0000deadbeef", history.campaign.operator.new_token(Role.WORKER)
    history.come(whole, 5000, "node-17", token)
    history.lease(whole, 1, 4000, token=token)
    history.seen(whole, 3000)
    document = str(messages.document(history.look()))
    assert "0f3a29c4" in document
    assert "silent_worker" in document
    assert "7fb4" not in document


def test_a_disk_that_is_nearly_full(history: History, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert warned(history.look(), WarningKind.DISK_NEARLY_FULL) is None
    monkeypatch.setattr(room, "MIN_FREE_BYTES", 2**70)
    text = warned(history.look(), WarningKind.DISK_NEARLY_FULL)
    assert "left on the disk of the ledger" in str(text)
    assert str(tmp_path) not in str(text)  # readers of a server need not know where things are


def test_many_workers(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are here are named first, and warnings name some of them."""
    names = [f"w{number:02}" for number in range(TASKS)]
    for name in names:
        history.come(name, 900)
        history.lease(name, 1, 800)
        history.seen(name, 600 if name != "w05" else 0)
    monkeypatch.setattr(facts, "SILENT_SECONDS", 300.0)
    with history.ledger.database.writing() as connection:
        connection.execute(update(Attempt).values(seconds=2.0))
    overview = history.look()
    assert worker(overview, "w05").state is WorkerState.WORKING
    silent = str(warned(overview, WarningKind.SILENT_WORKER))
    assert "and 1 more are silent, with 9 tasks" in silent
    assert isinstance(overview.warnings[0], Warned)


def test_all_workers_are_counted_though_few_are_listed(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MAX_WORKERS", 2)
    for name in "abcd":
        history.come(name, 60)
        history.lease(name, 1, 30)
    history.campaign.operator.take_back("for others", "d")
    overview = history.look()
    assert (len(overview.workers), overview.workers_left_out) == (2, 2)
    assert overview.workers_by_state == {"working": {"cpu": 3}, "idle": {"cpu": 1}}
    assert "4 workers" in in_a_line(overview)
    lines = lines_of([overview], None)
    assert "and 2 more" in lines
    assert any("3 working, 1 idle" in line for line in lines)
