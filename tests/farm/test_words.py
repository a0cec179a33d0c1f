"""What a real server and its workers say while they work, and no secret in it."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from db import Campaign, Ledger
from db.states import Role
from langford.machine.process import Compiling
from langford.methods import plan_of
from langford.methods.godfrey.cpu import GodfreyOnCpu
from langford.result import PartialResult
from tests.support.campaigns import HOUR, NAME, delivery, new_campaign
from tests.support.command_line import COMMAND, ENVIRONMENT, Run
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol
from tests.support.farm import CAMPAIGN, HURRY, slowed, start
from tests.support.joins import join_file
from tests.support.ports import free_port
from tests.support.servers import Server
from tests.support.terminals import shown

PIPE_BYTES = 4_096
"""What a pipe holds at least."""
TIME = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ  ", re.MULTILINE)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with new_ledger("sqlite", tmp_path, "langford.db") as made:
        yield made


def create(ledger: Ledger) -> Campaign:
    return ledger.create_campaign("farmed", CAMPAIGN, plan_of(CAMPAIGN).work.tolist())


class Worker:
    """A worker of a server on this machine."""

    def __init__(self, folder: Path, server: Server, token: str, **variables: str) -> None:
        join = join_file(folder, f"{server.url}/farmed", token, name=f"{id(self)}.join")
        words = ["work", join, "--workers", "1", "--outbox", f"{id(self)}", "--lease", "2"]
        environment = {**ENVIRONMENT, **slowed(folder), **variables}
        self.process = start(words, folder, environment, in_process=True, stderr=subprocess.PIPE)

    def end(self, number: signal.Signals | None = None) -> str:
        """Wait for its end; what it said."""
        if number is not None:
            self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=150)
        return errors


@pytest.mark.exhaustive
def test_a_server_says_what_happens_and_each_request(ledger: Ledger, tmp_path: Path) -> None:
    campaign = create(ledger)
    token, tasks = campaign.operator.new_token(Role.WORKER), campaign.tasks
    with Server(tmp_path, "farmed", "--access-log") as server:
        server.wait_until(lambda: "0 workers" in server.log)
        worker = Worker(tmp_path, server, token)
        server.wait_until(lambda: "joined: " in server.log)
        with httpx.Client(headers={"Authorization": "Bearer wrong"}) as client:
            for _ in range(35):
                client.get(f"{server.url}/campaigns/farmed?token={token}")
        (tmp_path / HURRY).touch()
        said = worker.end()
        server.wait_until(lambda: "no tasks were left" in server.log)
        log = server.stop()
    answered = re.compile(r"127.0.0.1: (\S+) (\S+) is answered (\d+) in \d\.\d{3} s")
    requests = answered.findall(log)
    lines = [line for line in TIME.sub("", log).splitlines() if not answered.match(line)]
    assert lines[0] == f"listening on {server.url} for farmed (0 of {tasks} tasks done)"
    assert lines[1] == "start workers with: langford work farmed.join"
    assert lines[2] == f"farmed: 0.0% of the work, 0/{tasks} tasks, 0 workers, new"
    named = re.search(r"this is worker (\w{8}) with 1 process", said)
    assert named is not None
    assert sum(line.startswith(f"farmed: joined: {named[1]} on ") for line in lines) == 1
    assert f"farmed: done: {tasks} tasks; `langford result farmed` prints the count" in lines
    assert lines[-1].startswith("stopped")
    assert all(TIME.match(line) for line in log.splitlines())
    assert {(method, status) for method, _, status in requests} >= {("POST", "200"), ("GET", "403")}
    assert all(path.startswith("/campaigns/farmed") for _, path, _ in requests)
    # A stranger has ten lines a minute, and this lasts for less than three.
    assert sum(status >= "400" for *_, status in requests) <= 30
    assert token not in log + said
    assert "Bearer" not in log
    assert server.process.returncode == -signal.SIGTERM


@pytest.mark.exhaustive
def test_a_log_that_nobody_reads_stops_no_worker(ledger: Ledger, tmp_path: Path) -> None:
    token = new_campaign(ledger).operator.new_token(Role.READER)
    port = free_port()
    arguments = [*COMMAND, "serve", NAME, "--port", str(port), "--access-log"]
    url, path = f"http://127.0.0.1:{port}/campaigns/{NAME}", "x" * 180
    with subprocess.Popen(
        arguments, cwd=tmp_path, env=ENVIRONMENT, text=True, stderr=subprocess.PIPE, pipesize=PIPE_BYTES
    ) as server:
        try:
            size = 0
            with httpx.Client(
                headers={"Authorization": f"Bearer {token}"}, transport=httpx.HTTPTransport(retries=30)
            ) as client:
                while size < 3 * PIPE_BYTES:
                    answer = client.get(url, timeout=20)
                    assert answer.status_code in (200, 429)
                    size += 110 * (answer.status_code == 200)
                    time.sleep(0.5 * (answer.status_code == 429))
                assert client.get(f"{url}/{path}").status_code == 404
            log: list[str] = []
            reading = threading.Thread(target=lambda: log.append(server.stderr.read() if server.stderr else ""))
            reading.start()
            server.send_signal(signal.SIGTERM)
            assert server.wait(60) == -signal.SIGTERM
            reading.join(60)
        finally:
            server.kill()
    assert log[0].count("is answered 200") >= size / 110
    assert token not in log[0]


# -- workers and runs -------------------------------------------------------------------------


@pytest.fixture
def work(ledger: Ledger, tmp_path: Path) -> Iterator[list[str]]:
    """The words of a worker of a server, of whose tasks another worker has done some."""
    campaign = create(ledger)
    token = campaign.operator.new_token(Role.WORKER)
    enrol(ledger, "other", "elsewhere", "1")
    others = campaign.worker.lease("other", 9, HOUR)
    campaign.worker.deliver([delivery(lease, campaign.plan.evaluate(lease.index)) for lease in others])
    with Server(tmp_path, "farmed") as server:
        yield ["work", join_file(tmp_path, f"{server.url}/farmed", token), "--workers", "1", "--outbox", "o"]


@pytest.mark.exhaustive
def test_a_worker_says_its_share_and_that_of_the_campaign(
    work: list[str], langford: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a line in 0.2 s is one "now and then"."""
    evaluate = GodfreyOnCpu.evaluate

    def slowly(self: GodfreyOnCpu, index: int) -> PartialResult:
        time.sleep(0.05)
        return evaluate(self, index)

    monkeypatch.setattr(GodfreyOnCpu, "evaluate", slowly)
    soon = {"langford.cli.output.progress:LOG_SECONDS": 0.2, "jobs.run.tally:FIRST_PAUSE_SECONDS": 0.3}
    done = langford(*work, values=soon)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "% of the work" in line]
    assert len(lines) >= 3, done.stderr
    pattern = (
        r"farmed: [\d.]+% of the work, (\d+)/\d+ tasks, (\d+) of them here \([\d.]+%\)"
        r"(, (about .*|less than 1 s) left)?"
    )
    found = [re.fullmatch(pattern, line) for line in lines]
    assert all(found), lines
    tasks = [(int(match[1]), int(match[2])) for match in found if match]
    assert tasks == sorted(tasks)
    assert tasks[-1][0] == tasks[-1][1] + 9


@pytest.mark.exhaustive
def test_a_worker_on_a_terminal_has_a_bar(work: list[str], tmp_path: Path) -> None:
    code, text = shown(tmp_path, *work)
    assert code == 0
    assert re.search(r"farmed.*%.*/\d+ tasks, \d+ of them here", text.decode()), text
    assert b"this is worker" in text


def test_a_run_says_that_it_compiles(langford: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of its own, and of kernels that no other test names: a process says it once of each.
    evaluate, compilations = GodfreyOnCpu.evaluate, Compiling()

    def compiling(self: GodfreyOnCpu, index: int) -> PartialResult:
        with compilations.noted("of this test") if index == 0 else contextlib.nullcontext():
            return evaluate(self, index)

    monkeypatch.setattr(GodfreyOnCpu, "evaluate", compiling)
    monkeypatch.setattr("langford.cli.main.COMPILING", compilations)
    done = langford("run", "langford", "8", "--method", "godfrey", "--depth", "4")
    assert done.stderr.count("compiling the kernels of this test, which takes") == 1, done.stderr
