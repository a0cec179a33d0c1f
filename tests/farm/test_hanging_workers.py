"""Real servers and workers that hang, die, lose answers or hear odd ones: the campaign goes on.

What does not need processes is in :mod:`tests.farm.test_hanging_tasks`.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from textwrap import indent

import httpx
import msgspec
import psutil
import pytest
from sqlalchemy import select

from db import Credential, Delivery
from db.schema.models import Attempt, Event
from db.states import Ending, EventKind, Outcome
from jobs.reach.identity import Identity
from jobs.reach.outbox import Outbox
from jobs.reach.remote import RemoteCampaign, ServerRefuses
from jobs.reach.wire import MAX_AT_ONCE
from jobs.run.loop import Run
from jobs.run.source import TaskSource
from langford.devices import CPU
from langford.methods import PlanKey
from langford.problem import Problem
from langford.result import Evaluation, PartialResult
from tests.farm.farm import HURRY, NAME, TASK_SECONDS, Farm, Proxy
from tests.support.command_line import Run as Langford
from tests.support.command_line import planted
from tests.support.consoles import KeptConsole
from tests.support.ports import free_port

MANY_TASKS = PlanKey(Problem.langford(15), "polyphase", 18)
"""A campaign of thousands of small tasks."""
SICK = 3
"""The task on which something goes wrong."""
PLANTED = """
import os, time
from langford.methods.godfrey.cpu import GodfreyOnCpu
from langford.steps import STEPS
evaluate = GodfreyOnCpu.evaluate
def sick(self, index):
    if not os.path.exists("{hurry}"):
        time.sleep({seconds})
    times = os.environ["LANGFORD_TIMES"]
    if index == {sick} and len(os.listdir("deaths")) < int(times):
        open(f"deaths/{{time.time_ns()}}", "w").close()
        STEPS.made()
        STEPS.made()
        {fault}
    return evaluate(self, index)
GodfreyOnCpu.evaluate = sick
"""
FAULTS = {
    "hangs": "time.sleep(10_000)",
    "dies": "os.kill(os.getpid(), 11)",
    "loses its device": (
        "from langford.devices import Device; Device.is_lost = property(lambda device: True); 1 / 0"
    ),
}


def plant(folder: Path, fault: str, times: int) -> dict[str, str]:
    """The environment of a process in which the first evaluations of one task go wrong."""
    (folder / "deaths").mkdir(exist_ok=True)
    # Only in computing processes: their parent starts them with this word.
    program = PLANTED.format(sick=SICK, fault=FAULTS[fault], seconds=TASK_SECONDS, hurry=HURRY)
    hook = "import sys\nif '--multiprocessing-fork' in sys.orig_argv:\n" + indent(program, "    ")
    return {**planted(folder / "planted", hook), "LANGFORD_TIMES": str(times)}


def outcomes_of(farm: Farm, index: int) -> Counter[str | None]:
    """How the attempts at a task ended."""
    with farm.ledger.database.reading() as connection:
        return Counter(connection.scalars(select(Attempt.outcome).where(Attempt.task_index == index)))


# -- processes that hang, or die --------------------------------------------------------------------


def test_a_process_that_hangs_is_killed_and_its_task_named(farm: Farm) -> None:
    worker = farm.work("--patience", "4", **plant(farm.folder, "hangs", 1))

    def has_begun() -> bool:
        with farm.ledger.database.reading() as connection:
            return connection.scalar(select(Attempt.steps).where(Attempt.task_index == SICK)) == 2

    farm.wait_until(has_begun)  # its progress is in the ledger while it hangs
    _, errors = worker.communicate(timeout=150)
    assert f"task {SICK} has been evaluated for" in errors
    assert "2 steps: its process was killed" in errors
    assert worker.returncode == 0
    farm.finish()
    assert outcomes_of(farm, SICK) == {Outcome.DIED: 1, Outcome.DONE: 1}


def test_a_task_that_ends_its_process_is_set_aside_by_name(farm: Farm) -> None:
    environment = plant(farm.folder, "dies", 1000)
    workers = [farm.work(**environment), farm.work(outbox="other", **environment)]
    errors = [worker.communicate(timeout=200)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [1, 1], errors
    assert any(f"task {SICK} has ended too many worker processes and is set aside" in said for said in errors)
    assert farm.campaign.progress().tasks == {"done": farm.campaign.tasks - 1, "set-aside": 1}
    assert outcomes_of(farm, SICK) == {Outcome.DIED: 3}
    with farm.ledger.database.reading() as connection:
        [event] = connection.execute(
            select(Event.task_index, Event.detail).where(Event.kind == EventKind.SET_ASIDE)
        ).all()
    assert event.task_index == SICK
    assert "killed by SIGSEGV" in event.detail
    assert farm.campaign.reopen() == 1
    farm.finish(farm.work())


def test_a_death_is_reported_when_the_server_is_back(farm: Farm) -> None:
    proxy, me = Proxy(farm.port), Identity.fresh()
    server = RemoteCampaign(f"http://127.0.0.1:{proxy.port}/{NAME}", farm.token)
    source = TaskSource(server, me, Outbox(farm.folder / "outbox", me), lease_seconds=600)
    assert source.ready
    [lease] = source.lease(1, [])
    proxy.cut = True
    assert not source.die(lease, "killed by SIGSEGV")
    assert outcomes_of(farm, lease.index) == {None: 1}
    proxy.cut = False

    def is_known() -> bool:
        source.attend([], {})
        return outcomes_of(farm, lease.index) == {Outcome.DIED: 1}

    farm.wait_until(is_known)
    source.close(Ending.FINISHED)


def test_sigterm_is_heard_while_the_server_hangs(farm: Farm) -> None:
    worker = farm.work("--lease", "600")
    farm.wait_until(lambda: farm.done() > 3)
    farm.server.send_signal(signal.SIGSTOP)
    time.sleep(2)  # it waits for an answer
    worker.send_signal(signal.SIGTERM)
    try:
        worker.wait(timeout=6)  # an answer may take 10 seconds
    finally:
        farm.server.send_signal(signal.SIGCONT)
    assert worker.returncode == 143
    farm.campaign.take_back("its worker has left")
    farm.finish(farm.work())


def test_a_run_sets_a_deadly_task_aside(langford: Langford, tmp_path: Path) -> None:
    command = ["run", "langford", "12", "--method", "godfrey", "--depth", "6", "--workers", "2", "--name", "ill"]
    done = langford(*command, variables=plant(tmp_path, "loses its device", 1000))
    assert done.returncode == 1, done.stderr
    said = "cpu is lost to this process (ZeroDivisionError: division by zero): a new one may use it"
    assert done.stderr.count(f"{said}; its tasks go back to the queue") == 3
    assert f"task {SICK} has ended too many worker processes" in done.stderr
    [task] = json.loads(langford("tasks", "ill", "--state", "set-aside", "--json").stdout)
    assert (task["index"], task["failures"]) == (SICK, 0)
    assert len(list((tmp_path / "deaths").iterdir())) == 3
    assert langford("retry", "ill").stdout == "1 task put back into the queue\n"
    assert langford(*command).stdout.startswith("L(2,12) = 108,144\n")


# -- odd answers ------------------------------------------------------------------------------------

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


class OddServer(ThreadingHTTPServer):
    """Answers requests of each kind in every odd way, and relays the others to the real server.

    Of requests for leases and with results, it relays none before it has answered them in all odd ways: no campaign
    ends earlier, however few requests a worker needs.  Of all others, every second one is odd.
    """

    daemon_threads = True

    def __init__(self, to: int) -> None:
        self.to, self.answered = to, Counter[str]()
        super().__init__(("127.0.0.1", 0), OddAnswers)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class OddAnswers(BaseHTTPRequestHandler):
    server: OddServer

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def _answer(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        number, decides = self.server.answered[self.path], self.path.endswith(("/leases", "/results"))
        self.server.answered[self.path] += 1
        turn, is_relayed = (number, False) if decides else divmod(number, 2)
        if turn < len(ODD) and not is_relayed:
            status, kind, content = ODD[turn]
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Location", "http://127.0.0.1:1/login")
        else:
            headers = {"Authorization": self.headers["Authorization"]}
            url = f"http://127.0.0.1:{self.server.to}{self.path}"
            answer = httpx.request(method, url, content=body, headers=headers, trust_env=False)
            status, kind, content = answer.status_code, "application/json", answer.content
            self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing."""


def test_odd_answers_end_no_worker(farm: Farm) -> None:
    odd = OddServer(farm.port)
    worker = farm.work(port=odd.port, in_process=False)  # which sends each result by itself
    _, errors = worker.communicate(timeout=200)
    assert worker.returncode == 0, errors
    farm.finish()
    kinds = {path.rpartition("/")[2]: number for path, number in odd.answered.items()}
    assert kinds["leases"] > len(ODD)
    assert kinds["results"] > len(ODD)
    assert "no task server answers at" in errors
    assert "the server is back" in errors
    odd.shutdown()


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_ends_a_worker(status: int) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), refusing(status)) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        server = RemoteCampaign(f"http://127.0.0.1:{listener.server_address[1]}/x", "token")
        with pytest.raises(ServerRefuses):
            server.info()
        server.close()
        listener.shutdown()


def refusing(status: int) -> type[BaseHTTPRequestHandler]:
    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(status)

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing."""

    return Refusing


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(farm: Farm) -> None:
    dead = f"http://127.0.0.1:{free_port()}"
    farm.finish(farm.work(HTTP_PROXY=dead, http_proxy=dead, ALL_PROXY=dead, NO_PROXY=""))


# -- many devices, many results ---------------------------------------------------------------------


@pytest.fixture
def large_farm(tmp_path: Path) -> Iterator[Farm]:
    made = Farm(tmp_path, MANY_TASKS)
    yield made
    made.stop()


def remote(farm: Farm, port: int | None = None) -> tuple[RemoteCampaign, Identity]:
    """A client that is enrolled, with processes for many leases."""
    server = RemoteCampaign(f"http://127.0.0.1:{port or farm.port}/{NAME}", farm.token)
    me = msgspec.structs.replace(Identity.fresh(), processes=512)
    server.enrol(me)
    return server, me


def test_the_leases_of_512_devices_are_renewed_in_batches(large_farm: Farm) -> None:
    server, me = remote(large_farm)
    server.info()
    leases = []
    while len(leases) < 4 * 512 and (
        more := server.lease(me.worker_id, MAX_AT_ONCE, 60, [x.attempt for x in leases])
    ):
        leases += more
    assert len(leases) > MAX_AT_ONCE
    steps = {lease.attempt: number for number, lease in enumerate(leases[:512])}
    assert server.renew(leases, 500, steps) == {lease.attempt for lease in leases}
    with large_farm.ledger.database.reading() as connection:
        rows = connection.execute(select(Attempt.id, Attempt.seconds, Attempt.steps)).all()
    assert {row.seconds for row in rows} == {500}
    assert {row.id: row.steps for row in rows if row.steps is not None} == steps
    server.release(leases, Outcome.RELEASED, "enough")
    assert "leased" not in large_farm.campaign.standing().tasks
    server.close()


def test_a_reason_of_any_characters_is_reported(large_farm: Farm) -> None:
    """Without this a worker would end for the words of an error."""
    server, me = remote(large_farm)
    failed, died, released = server.lease(me.worker_id, 3, 60, [])
    reason = "no file '\udcff\0'" + "x" * 10_000
    server.fail(failed, reason)
    server.die(died, reason)
    server.release([released], Outcome.RELEASED, reason)
    server.close()
    assert large_farm.campaign.progress().attempts == {"failed": 1, "died": 1, "released": 1}
    with large_farm.ledger.database.reading() as connection:
        notes = set(connection.execute(select(Attempt.note)).scalars())
    assert notes == {f"no file '??'{'x' * 988}"}


class CutAfterResults(OddServer):
    """Relays everything, but after so many requests with results it answers 503 until it is mended."""

    def __init__(self, to: int, results: int) -> None:
        self.results, self.mended = results, False
        super().__init__(to)
        self.RequestHandlerClass = CuttingAnswers

    def is_cut(self, path: str) -> bool:
        self.results -= path.endswith("/results")
        return self.results < 0 and not self.mended and path.endswith("/results")


class CuttingAnswers(OddAnswers):
    server: CutAfterResults  # type: ignore[assignment]

    def _answer(self, method: str) -> None:
        if self.server.is_cut(self.path):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_error(503)
        else:
            self.server.answered[self.path] = 2 * len(ODD)
            super()._answer(method)


def test_no_result_in_memory_is_lost_when_only_some_arrive(large_farm: Farm) -> None:
    """More results than one request takes, none of them on disk; the server goes away after the first request."""
    relay = CutAfterResults(large_farm.port, results=1)
    server, me = remote(large_farm, relay.port)
    outbox = Outbox(large_farm.folder / "outbox", me)
    source = TaskSource(server, me, outbox, lease_seconds=600)
    assert source.ready
    leases = []
    while len(leases) <= MAX_AT_ONCE:
        leases += source.lease(MAX_AT_ONCE, leases)
    shutil.rmtree(outbox.folder)  # the disk takes nothing any more
    plan = large_farm.campaign.plan
    source.deliver([(lease, delivered(plan.evaluate(lease.index), lease)) for lease in leases])
    assert source.waiting[0] == len(leases)
    source.attend([], {})
    assert large_farm.done() == MAX_AT_ONCE
    assert source.waiting[0] == len(leases) - MAX_AT_ONCE
    relay.mended = True
    large_farm.wait_until(lambda: source.attend([], {}) or not source.waiting[0])  # type: ignore[func-returns-value]
    assert large_farm.done() == len(leases)
    assert large_farm.campaign.progress().confirmed == 0
    relay.shutdown()
    source.close(Ending.FINISHED)


def delivered(result: PartialResult, shown: Credential) -> Delivery:
    return Delivery.of(shown, Evaluation(result, 0.01, "{}"))


def test_a_worker_closes_its_connection(farm: Farm) -> None:
    server, me = remote(farm)
    source = TaskSource(server, me, Outbox(farm.folder / "outbox", me))

    def connections() -> int:
        return sum(bool(each.raddr) and each.raddr.port == farm.port for each in psutil.Process().net_connections())

    console = KeptConsole(lambda: "enough" if source.ready else None)
    report = Run(source, [CPU], console, time_limit=0).run()
    assert report.stopped == "enough"
    assert connections() == 0


# -- operators and clocks ---------------------------------------------------------------------------


def test_an_operator_takes_leases_back(langford: Langford, farm: Farm) -> None:
    ids = []
    for host in ("node1", "node2", "node3"):
        me = Identity.fresh()
        farm.ledger.enrol(me.worker_id, host, "1")
        farm.campaign.lease(me.worker_id, 4, 3600)
        ids.append(me.worker_id)
    assert langford("release", NAME, "--worker", "node1").stdout == "4 tasks of 1 worker put back into the queue\n"
    assert langford("release", NAME, "--worker", ids[1][:8]).stdout.startswith("4 tasks of 1 worker ")
    unknown = langford("release", NAME, "--worker", "node1")
    assert unknown.returncode == 2
    assert f"but {ids[2][:8]} on node3" in unknown.stderr
    assert farm.campaign.standing().tasks["leased"] == 4
    start = time.monotonic()
    worker = farm.work()
    farm.wait_until(lambda: farm.done() > 3)
    released = langford("release", NAME)
    assert released.returncode == 0, released.stderr
    farm.finish(worker)  # it lost leases, and nothing else
    assert time.monotonic() - start < 100


SHIFTED_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
int gettimeofday(struct timeval *now, void *zone) {
    static int (*real)(struct timeval *, void *);
    if (!real) real = (int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday");
    int code = real(now, zone);
    if (getenv("SHIFT")) now->tv_sec += atol(getenv("SHIFT"));
    return code;
}
"""


def test_a_servers_clock_that_was_ahead_and_came_back(farm: Farm) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a compiler")
    (farm.folder / "clock.c").write_text(SHIFTED_CLOCK)
    library = farm.folder / "clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, farm.folder / "clock.c", "-ldl"], check=True)
    farm.server.kill()
    farm.server.wait()
    farm.server = farm.serve(LD_PRELOAD=str(library), SHIFT="86400")
    lost = farm.work("--lease", "3")
    farm.wait_until(lambda: farm.done() > 3)
    lost.send_signal(signal.SIGSTOP)
    time.sleep(0.5)
    farm.server.kill()
    farm.server.wait()
    lost.kill()
    lost.wait()
    with farm.ledger.database.reading() as connection:
        held = connection.scalars(select(Attempt.deadline).where(Attempt.ended.is_(None))).all()
    assert held
    assert min(held) > time.time() + 80_000
    farm.server = farm.serve()
    farm.finish(farm.work("--lease", "3"))
