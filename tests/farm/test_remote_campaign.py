"""Workers whose server answers oddly, or not at all, or has another ledger than before; no network."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from uuid import UUID

import httpx
import pytest
from msgspec import structs
from sqlalchemy import Connection, Engine, event, insert, select, update

from db import Delivery, Lease, Ledger
from db.identity import Identity
from db.schema.models import Attempt, Token
from db.states import Ending, EventKind, Outcome, Role, TaskState
from jobs.clock import SystemClock
from jobs.farm.api import server
from jobs.reach import outgoing, wire
from jobs.reach.outbox import Outbox
from jobs.reach.requests import CampaignReplaced, NotEnrolled, ServerRefuses
from jobs.run import source
from jobs.run.source import TaskSource
from tests.support.asgi import Bridge, Served
from tests.support.campaigns import HOUR, KEY, NAME, TASKS, TRUE, delivery, forged, true_deliveries
from tests.support.clock import MovableClock
from tests.support.consoles import KeptConsole
from tests.support.enrolling import enrol
from tests.support.statements import statements_of

ODD: list[tuple[int, str, bytes]] = [
    (200, "text/html", b"<html>log in to this network</html>"),
    (302, "text/html", b""),
    (404, "text/html", b"<html>nothing here</html>"),
    (404, "application/json", b'{"error": "no such thing"}'),
    (408, "text/plain", b"too slow"),
    (200, "application/json", b"[1, 2]"),
    (200, "application/json", b'{"leases": 5}'),
    (200, "application/json", b'{"running": "all"}'),
    (200, "application/json", b'{"receipts": []}'),
    (400, "text/html", b"bad"),
    (409, "text/html", b"conflict"),
    (410, "text/html", b"gone"),
    (418, "text/plain", b"teapot"),
    (500, "text/html", b"oh"),
    (200, "", b""),
]
BUSY = httpx.Response(503, stream=httpx.ByteStream(b"busy"))


class Network(Bridge):
    """Carries requests to a server, unless a test interferes.

    Attributes:
        asked: how many requests came, by the last part of their path.
        instead: the answer that a request gets from somebody on the way; None: it is carried.
        after: called when the server has answered, with the last part of the path.
    """

    def __init__(self, farm: Served) -> None:
        super().__init__(farm.application)
        self.asked = Counter[str]()
        self.instead: Callable[[str], httpx.Response | None] = lambda path: None
        self.after: Callable[[str], None] = lambda path: None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.rpartition("/")[2]
        self.asked[path] += 1
        answer = self.instead(path) or super().handle_request(request)
        self.after(path)
        return answer


class Worker:
    """One worker of the campaign.

    Attributes:
        network: to the server.
        source, outbox: its tasks and its results.
        said: its remarks.
    """

    def __init__(self, farm: Served, folder: Path, clock: MovableClock | None = None) -> None:
        self.clock, console, me = clock or MovableClock(), KeptConsole(), Identity.fresh()
        self.said, self.network = console.said, Network(farm)
        self.outbox = Outbox(folder / "outbox", me, console)
        remote = farm.remote(self.network)
        self.source = TaskSource(remote, me, self.outbox, console, clock=self.clock)

    def wait(self) -> None:
        """Let the source ask again."""
        self.clock.move(HOUR)
        self.source.attend([], {})

    def lease(self, count: int) -> list[tuple[Lease, Delivery]]:
        """Leased tasks with their true results."""
        leases = self.source.lease(count, []) if self.source.ready else []
        return list(zip(leases, true_deliveries(leases), strict=True))

    def work(self) -> None:
        """Until all is done."""
        for _ in range(100):
            self.source.deliver(self.lease(3))
            self.clock.move(HOUR)
            if self.source.ready:
                self.source.attend([], {})
                if self.source.exhausted and not self.source.waiting:
                    break
        self.source.close(Ending.FINISHED)


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Served]:
    with closing(Served.with_all_roles(tmp_path)) as made:
        yield made


@pytest.fixture
def worker(farm: Served, tmp_path: Path) -> Worker:
    return Worker(farm, tmp_path)


def is_done(farm: Served, **attempts: int) -> bool:
    """Whether each task is done once and right, and how many attempts ended otherwise."""
    reader = farm.campaign.reader
    overview = reader.overview()
    assert reader.standing().tasks == {"done": TASKS}
    assert (overview.checked.conflicts, overview.checked.confirmed) == (0, 0)
    return overview.attempts == {"done": TASKS} | attempts and reader.results() == TRUE


def test_odd_answers_end_no_worker(farm: Served, worker: Worker) -> None:
    """The first requests of each kind are answered in all odd ways."""

    def odd(path: str) -> httpx.Response | None:
        number = worker.network.asked[path] - 1
        if number >= len(ODD):
            return None
        status, kind, content = ODD[number]
        headers = {"Content-Type": kind, "Location": "http://127.0.0.1:1/login"}
        return httpx.Response(status, headers=headers, stream=httpx.ByteStream(content))

    worker.network.instead = odd
    worker.work()
    assert is_done(farm)
    assert all(worker.network.asked[path] > len(ODD) for path in (NAME, "workers", "leases", "results"))
    said = "\n".join(worker.said)
    assert "no task server answers at" in said
    assert "the server is back" in said


def test_a_limit_on_leases_is_no_answer_to_anything_else(farm: Served, worker: Worker) -> None:
    def limit(path: str) -> httpx.Response | None:
        refused = httpx.ByteStream(b'{"error": "the workers with this token hold 1 task"}')
        return httpx.Response(429, stream=refused, headers={"Retry-After": "60"}) if path == "leases" else None

    first = worker.lease(1)
    worker.network.instead = limit
    assert worker.lease(1) == []
    before = worker.network.asked["leases"]
    for _ in range(59):
        worker.clock.move(1.0)
        worker.source.attend([lease for lease, _ in first], {})
        assert worker.lease(1) == []
    assert worker.network.asked["leases"] == before
    worker.source.deliver(first)
    worker.source.attend([], {})
    assert farm.campaign.reader.standing().tasks_done == 1
    worker.network.instead = lambda path: None
    worker.work()
    assert is_done(farm)
    assert len(worker.said) == 1


def test_lost_answers_orphan_no_task(farm: Served, worker: Worker) -> None:
    def lose(path: str) -> None:
        if path == "leases" and worker.network.asked[path] <= 3:
            raise httpx.ReadError("the connection is cut")

    worker.network.after = lose
    worker.work()
    with farm.ledger.database.reading() as connection:
        notes = connection.scalars(select(Attempt.note).where(Attempt.outcome == Outcome.RELEASED)).all()
    assert set(notes) == {"its worker does not know of it"}
    assert is_done(farm, released=len(notes))


def test_a_worker_from_which_an_operator_takes_its_leases_loses_no_result(farm: Served, worker: Worker) -> None:
    finished = worker.lease(3)
    assert farm.campaign.operator.take_back("an operator") == 3
    worker.source.deliver(finished)
    worker.source.attend([], {})
    worker.work()
    assert is_done(farm, done=TASKS - 3, released=3)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_ends_a_worker(worker: Worker, status: int) -> None:
    worker.network.instead = lambda path: httpx.Response(status, stream=httpx.ByteStream(b"no"))
    with pytest.raises(ServerRefuses):
        worker.work()


def test_no_result_in_memory_is_lost_when_only_some_arrive(
    farm: Served, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More results than one request takes, none of them on disk; the server goes away after the first request."""
    monkeypatch.setattr(outgoing, "MAX_AT_ONCE", 3)
    finished = worker.lease(TASKS)
    shutil.rmtree(worker.outbox.folder)  # the disk takes nothing any more
    worker.network.instead = lambda path: BUSY if worker.network.asked["results"] > 1 else None
    worker.source.deliver(finished)
    worker.source.attend([], {})
    assert (farm.campaign.reader.standing().tasks["done"], worker.source.waiting) == (3, TASKS - 3)
    worker.network.instead = lambda path: None
    worker.wait()
    assert worker.source.waiting == 0
    assert is_done(farm)


def test_many_leases_are_renewed_and_released_in_batches(
    farm: Served, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MAX_AT_ONCE", 3)
    remote = farm.remote(worker.network)
    leases = remote.lease("a", TASKS, 60, [])
    steps = {lease.attempt: number for number, lease in enumerate(leases[:5])}
    assert remote.renew(leases, 500, steps) == {lease.attempt for lease in leases}
    with farm.ledger.database.reading() as connection:
        rows = connection.execute(select(Attempt.id, Attempt.seconds, Attempt.steps)).all()
    assert {row.seconds for row in rows} == {500}
    assert {row.id: row.steps for row in rows if row.steps is not None} == steps
    remote.end(leases, Outcome.RELEASED, "enough")
    assert farm.campaign.reader.standing().tasks == {"ready": TASKS}
    assert worker.network.asked["renewals"] == worker.network.asked["ends"] == -(-TASKS // 3)


def test_a_reason_of_any_characters_is_reported(farm: Served) -> None:
    """Without this a worker would end for the words of an error."""
    remote = farm.remote()
    failed, died, released = remote.lease("a", 3, 60, [])
    reason = "no file '\udcff\0'" + "x" * 10_000
    remote.end([failed], Outcome.FAILED, reason)
    remote.end([died], Outcome.DIED, reason)
    remote.end([released], Outcome.RELEASED, reason)
    remote.close()
    assert farm.campaign.reader.overview().attempts == {"failed": 1, "died": 1, "released": 1}
    with farm.ledger.database.reading() as connection:
        notes = set(connection.execute(select(Attempt.note)).scalars())
    assert notes == {f"no file '??'{'x' * 988}"}


# -- other ledgers --------------------------------------------------------------------------------


def test_another_campaign_under_the_name_ends_the_worker_which_keeps_its_results(
    farm: Served, worker: Worker, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    with closing(Served.with_all_roles(tmp_path / "other")) as other:
        with other.ledger.database.writing() as connection:
            digest = hashlib.sha256(farm.tokens[Role.WORKER].encode()).hexdigest()
            row = {"campaign_id": other.campaign.campaign_id, "role": Role.WORKER, "digest": digest, "created": 0.0}
            connection.execute(insert(Token).values(**row))
        finished = worker.lease(3)
        worker.network.instead = lambda path: BUSY
        worker.source.deliver(finished[:2])
        worker.network.instead = lambda path: None
        worker.network.reach(other.application)
        with pytest.raises(CampaignReplaced, match="different campaign"):
            worker.work()
        assert worker.outbox.count == 2
        # Not even leased: a lease that nobody holds keeps its task from others until it ends.
        assert other.campaign.reader.overview().attempts == {}


def test_a_ledger_restored_from_a_backup(farm: Served, worker: Worker, tmp_path: Path) -> None:
    """One worker had enrolled before the backup; of another the restored ledger knows nothing."""
    early, late = worker, Worker(farm, tmp_path)
    first, second, *others = early.lease(TASKS - 2)
    early.source.deliver([first])
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        connection.execute(f"VACUUM INTO '{tmp_path / 'backup.db'}'")
    early.source.deliver([second])
    finished = late.lease(2)
    late.network.instead = lambda path: BUSY
    late.source.deliver(finished)
    with Ledger(str(tmp_path / "backup.db")) as restored:
        application = server.application(restored, [NAME])
        for each in (early, late):
            each.network.instead = lambda path: None
            each.network.reach(application)
        early.source.deliver(others)
        early.work()
        late.work()
        campaign = restored.campaign(NAME)
        assert any("enrols again" in said for said in late.said)
        assert sum("the nonce is not that of attempt" in said for said in late.said) == 2
        assert campaign.reader.standing().tasks == {"done": TASKS}
        assert campaign.reader.overview().checked.conflicts == 0
        assert campaign.reader.results() == TRUE


# -- results and the next lease in one request ----------------------------------------------------


def test_a_worker_says_that_its_code_is_another(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = source.method_hash(KEY.method)
    monkeypatch.setattr(source, "method_hash", lambda method: "0" * 16)
    worker.lease(1)
    assert worker.said == [f"the code that computes here ({'0' * 16}) is not the server's ({theirs})"]


def test_a_worker_says_that_its_result_is_in_conflict(farm: Served, worker: Worker) -> None:
    [(lease, _)] = worker.lease(1)
    enrol(farm.ledger, "other", "host-other", "1")
    with farm.ledger.database.writing() as connection:
        connection.execute(update(Attempt).values(deadline=Attempt.granted - 1))
    for each in farm.campaign.worker.lease("other", TASKS, HOUR):
        farm.campaign.worker.deliver([delivery(each, TRUE[each.index])])
    worker.source.deliver([(lease, delivery(lease, forged(lease.index)))])
    worker.wait()
    assert f"task {lease.index}: its result is conflict" in worker.said


def test_a_result_goes_along_with_the_request_for_the_next_task(farm: Served, worker: Worker) -> None:
    """One request a task: no other one between the first lease, which comes with the enrolment, and the last."""
    for _ in range(3):
        worker.source.deliver(worker.lease(1))
    assert dict(worker.network.asked) == {NAME: 1, "workers": 1, "exchanges": 2}
    assert farm.campaign.reader.standing().tasks[TaskState.DONE] == 2
    worker.work()
    assert is_done(farm)


def test_a_worker_whose_clock_is_before_1970_loses_no_result(
    farm: Served, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SystemClock, "wall", lambda _: -1e8)
    worker.work()
    assert is_done(farm)
    assert not worker.said


def test_results_and_leases_of_a_request_are_one_transaction(farm: Served, worker: Worker) -> None:
    """Each commit waits for the disk."""
    remote = farm.remote(worker.network)
    done = true_deliveries(remote.lease("a", 1, HOUR, []))
    commits: list[bool] = []

    def note(connection: Connection) -> None:
        commits.append(connection.get_execution_options().get("read_only") is not True)

    event.listen(Engine, "commit", note)
    try:
        with statements_of() as seen:
            remote.exchange(done, "a", 1, HOUR, [])
    finally:
        event.remove(Engine, "commit", note)
    assert sum(commits) == 1
    assert sum(statement.startswith("UPDATE token") for statement in seen) == 1


@pytest.mark.parametrize(
    ("worker_id", "refusal"),
    [("of another token", ServerRefuses), ("nobody", NotEnrolled), ("replaced", CampaignReplaced)],
)
def test_a_refusal_of_tasks_refuses_no_result(
    farm: Served, worker: Worker, worker_id: str, refusal: type[Exception]
) -> None:
    """One that the ledger does not know, and others."""
    remote = farm.remote(worker.network)
    done = true_deliveries(remote.lease("a", 1, HOUR, []))
    enrol(farm.ledger, "of another token", "host", "1")
    if worker_id == "replaced":
        remote.uuid = str(UUID(int=0))
    with pytest.raises(refusal):
        remote.exchange(done, worker_id, 1, HOUR, [])
    assert worker.network.asked["exchanges"] == 1
    assert farm.campaign.reader.standing().tasks[TaskState.DONE] == 1


def test_a_result_that_is_refused_keeps_no_other_one_and_no_task_back(farm: Served, worker: Worker) -> None:
    held = worker.lease(2)
    worker.source.deliver([(lease, structs.replace(done, index=lease.index + 10**6)) for lease, done in held[:1]])
    worker.source.deliver(held[1:])
    assert len(worker.lease(1)) == 1
    assert worker.network.asked["exchanges"] == 1
    assert farm.campaign.reader.standing().tasks[TaskState.DONE] == 1
    assert worker.source.waiting == 0


def test_each_result_gets_its_own_receipt(farm: Served, worker: Worker) -> None:
    remote = farm.remote(worker.network)
    first, second, third = true_deliveries(remote.lease("a", 3, HOUR, []))
    foreign = structs.replace(first, nonce="another")
    receipts = remote.deliver([foreign, second])
    assert [receipt.event for receipt in receipts] == [EventKind.REFUSED, None]
    receipts, _ = remote.exchange([third, foreign], "a", 1, HOUR, [])
    assert [receipt.event for receipt in receipts] == [None, EventKind.REFUSED]


def test_a_limit_on_leases_keeps_no_result_back(farm: Served, worker: Worker) -> None:
    """The server has taken it, and the worker delivers it again."""
    worker.source.deliver(worker.lease(1))
    refused = httpx.ByteStream(b'{"error": "the workers with this token hold 1 task"}')
    worker.network.instead = lambda path: (
        httpx.Response(429, stream=refused, headers={"Retry-After": "60"}) if path == "exchanges" else None
    )
    assert worker.lease(1) == []
    worker.clock.move(10.0)
    worker.source.attend([], {})
    assert farm.campaign.reader.standing().tasks[TaskState.DONE] == 1
    assert worker.source.waiting == 0


def test_an_error_of_the_server_with_results_keeps_no_task_back(farm: Served, worker: Worker) -> None:
    worker.source.deliver(worker.lease(1))
    worker.network.instead = lambda path: (
        None if path == "leases" else httpx.Response(503, stream=httpx.ByteStream(b"busy"))
    )
    assert worker.lease(1) == []
    worker.clock.move(HOUR)
    worker.source.attend([], {})  # the results alone, in vain too
    worker.clock.move(HOUR)
    assert len(worker.lease(1)) == 1
    worker.network.instead = lambda path: None
    worker.work()
    assert is_done(farm, released=1)
