"""What a real server and its workers say while they work, for people and for programs, and no secret in it."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

from db import Campaign, Ledger
from db.schema.models import Attempt
from db.states import Role
from langford.cli.main import cli
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from tests.farm.farm import HURRY, slowed, start
from tests.support.campaigns import HOUR, NAME, TASKS, delivery, finish, forged, new_campaign, true_deliveries
from tests.support.cases import exhaustive
from tests.support.command_line import COMMAND, ENVIRONMENT
from tests.support.databases import new_ledger
from tests.support.ports import free_port
from tests.support.servers import Server

SHORT, LONG = (PlanKey(Problem.langford(12), "godfrey", depth) for depth in (8, 10))
"""A campaign of seconds with slowed workers, and one of minutes."""
PIPE_BYTES = 4_096
"""What a pipe holds at least."""
TIME = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ  ", re.MULTILINE)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with new_ledger("sqlite", tmp_path, "langford.db") as made:
        yield made


def create(ledger: Ledger, key: PlanKey) -> Campaign:
    return ledger.create_campaign("farmed", key, plan_of(key).work.tolist())


class Worker:
    """A worker of a server on this machine."""

    def __init__(self, folder: Path, server: Server, token: str, **variables: str) -> None:
        words = ["work", f"{server.url}/farmed", "--workers", "1", "--outbox", f"{id(self)}", "--lease", "2"]
        environment = {**ENVIRONMENT, **slowed(folder), "LANGFORD_TOKEN": token, **variables}
        self.process = start(words, folder, environment, in_process=True, stderr=subprocess.PIPE)

    def end(self, number: signal.Signals | None = None) -> str:
        """Wait for its end; what it said."""
        if number is not None:
            self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=150)
        return errors


@pytest.mark.parametrize("number", [signal.SIGTERM, *exhaustive([signal.SIGINT])])
def test_a_server_says_what_happens(ledger: Ledger, tmp_path: Path, number: signal.Signals) -> None:
    campaign = create(ledger, SHORT)
    token, tasks = campaign.new_token(Role.WORKER), campaign.tasks
    with Server(tmp_path, "farmed") as server:
        worker = Worker(tmp_path, server, token)
        server.wait_until(lambda: "joined: " in server.log)
        (tmp_path / HURRY).touch()
        said = worker.end()
        server.wait_until(lambda: "left: nothing was left" in server.log)
        log = server.stop(number)
    lines = TIME.sub("", log).splitlines()
    assert lines[0] == f"listening on {server.url} for farmed (0 of {tasks} tasks done)"
    assert lines[1] == f"farmed: 0.0% of the work, 0/{tasks} tasks, 0 workers"
    named = re.search(r"this is worker (\w{8}) with 1 process", said)
    assert named is not None
    assert sum(line.startswith(f"farmed: worker {named[1]} on ") and "joined: " in line for line in lines) == 1
    assert f"farmed: done: {tasks} tasks; `langford result farmed` merges them" in lines
    assert lines[-1].startswith("stopped")
    assert all(TIME.match(line) for line in log.splitlines())
    assert "is answered" not in log
    assert token not in log + said
    assert server.process.returncode == (-signal.SIGTERM if number is signal.SIGTERM else 0)


def test_every_line_can_be_json(ledger: Ledger, tmp_path: Path) -> None:
    campaign = create(ledger, SHORT)
    token = campaign.new_token(Role.WORKER)
    with Server(tmp_path, "farmed", "--log-format", "json", "--access-log") as server:
        worker = Worker(tmp_path, server, token)
        wrong = {"Authorization": "Bearer \x1b[31mwrong"}
        for _ in range(35):
            httpx.get(f"{server.url}/campaigns/farmed?token={token}", headers=wrong)
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port), 5) as stranger:
                stranger.sendall(b"\x00GET / HTTP/9.9\r\n\r\n")
        worker.end()
        server.wait_for("worker_left")
        log = server.stop()
        lines = server.lines()
    by_event = {line["event"]: line for line in lines}
    assert {"listening", "worker_joined", "progress", "done", "request", "client", "stopped"} <= set(by_event)
    assert by_event["listening"]["campaigns"] == ["farmed"]
    assert by_event["done"]["tasks"] == campaign.tasks
    [joined] = by_event["worker_joined"]["workers"]
    assert set(joined) == {"id", "host", "device", "slurm", "ending", "last_seen"}
    requests = [line for line in lines if line["event"] == "request"]
    assert {(line["method"], line["status"]) for line in requests} >= {("POST", 200), ("GET", 403)}
    assert all(line["path"].startswith("/campaigns/") and line["seconds"] >= 0 for line in requests)
    # A stranger has ten lines a minute, and this lasts for less than three.
    assert sum(line["status"] >= 400 for line in requests) <= 30
    assert token not in log
    assert "wrong" not in "".join(line["message"] for line in requests)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]) for line in lines)


def test_the_server_says_who_was_lost_and_what_expired(ledger: Ledger, tmp_path: Path) -> None:
    campaign, resting = create(ledger, LONG), slowed(tmp_path, 1.0)
    token = campaign.new_token(Role.WORKER)
    with Server(tmp_path, "farmed", "--log-format", "json") as server:
        dead = Worker(tmp_path, server, token, **resting)
        server.wait_for("worker_joined")
        server.wait_until(lambda: campaign.progress().attempts.get("running"))
        dead.end(signal.SIGKILL)
        server.wait_until(lambda: is_over(campaign))
        other = Worker(tmp_path, server, token, **resting)
        [left] = server.wait_for("worker_left")
        [expired] = server.wait_for("leases_expired")
        server.wait_until(lambda: campaign.progress().attempts.get("running"))
        other.end(signal.SIGTERM)
        [_, stopped] = server.wait_for("worker_left", 2)
    assert [worker["ending"] for worker in stopped["workers"]] == ["preempted"]
    assert [worker["ending"] for worker in left["workers"]] == ["lost"]
    assert left["workers"][0]["id"] == server.lines("worker_joined")[0]["workers"][0]["id"]
    assert (expired["number"], expired["level"]) == (campaign.progress().attempts["expired"], "warning")


def is_over(campaign: Campaign) -> bool:
    """Whether all leases have ended, whoever held them; the server may have noted it."""
    with campaign.database.reading() as connection:
        last = connection.scalar(select(func.max(Attempt.deadline)).where(Attempt.ended.is_(None)))
    return last is None or last < time.time()


def test_many_conflicts_are_one_line_and_who_is_to_blame_another(ledger: Ledger, tmp_path: Path) -> None:
    campaign = new_campaign(ledger)
    with Server(tmp_path, NAME, "--log-format", "json") as server:
        server.wait_for("progress")
        late = campaign.lease("a", TASKS, -1.0)
        finish(campaign, "b")
        campaign.deliver([delivery(lease, forged(lease.index)) for lease in late])
        [conflict] = server.wait_for("conflict")
        ledger.enrol("c", "host-c", "1")
        finish(campaign, "c")
        [distrusted] = server.wait_for("distrusted")
        server.stop()
        assert len(server.lines("conflict")) == len(server.lines("distrusted")) == 1
    assert (conflict["number"], conflict["tasks"]) == (TASKS, list(range(TASKS)))
    assert conflict["message"].startswith(f"results disagree {TASKS} times, of tasks 0, 1, 2")
    assert "host-a" in distrusted["message"]
    assert conflict["level"] == distrusted["level"] == "warning"


def test_a_task_that_is_set_aside_is_said(ledger: Ledger, tmp_path: Path) -> None:
    campaign = new_campaign(ledger)
    with Server(tmp_path, NAME) as server:
        server.wait_until(lambda: "0 workers" in server.log)
        for _ in range(3):
            [lease] = campaign.lease("a", 1, HOUR)
            campaign.fail(lease, "it breaks\n\x1b[31m")
        server.wait_until(lambda: "is set aside" in server.log)
    [said] = [line for line in server.log.splitlines() if "is set aside" in line]
    assert said.endswith(r"by a on host-a (last: it breaks\n\x1b[31m)")


def test_a_log_that_nobody_reads_stops_no_worker(ledger: Ledger, tmp_path: Path) -> None:
    token = new_campaign(ledger).new_token(Role.READER)
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


def test_a_ledger_that_cannot_be_read_is_said_once(ledger: Ledger, tmp_path: Path) -> None:
    campaign = new_campaign(ledger)
    with Server(tmp_path, NAME, "--log-format", "json") as server:
        server.wait_for("progress")
        with ledger.database.writing() as connection:
            connection.exec_driver_sql("ALTER TABLE event RENAME TO gone")
        server.wait_for("blind")
        time.sleep(1)  # five looks
        with ledger.database.writing() as connection:
            connection.exec_driver_sql("ALTER TABLE gone RENAME TO event")
        campaign.deliver(true_deliveries(campaign.lease("a", TASKS, HOUR)))
        server.wait_for("done")
        server.stop()
        assert len(server.lines("blind")) == 1


# -- workers and runs -------------------------------------------------------------------------


def test_a_worker_says_its_share_and_that_of_the_campaign(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process, where a line in 0.2 s is one "now and then"."""
    campaign = create(ledger, SHORT)
    slower = tmp_path / "slower"
    slower.mkdir()
    monkeypatch.setenv("PYTHONPATH", slowed(slower, 0.1)["PYTHONPATH"])
    monkeypatch.setattr("langford.cli.output.progress.LOG_SECONDS", 0.2)
    monkeypatch.setattr("jobs.run.tally.FIRST_PAUSE_SECONDS", 0.3)
    token = tmp_path / "token"
    token.write_text(campaign.new_token(Role.WORKER))
    token.chmod(0o600)
    with Server(tmp_path, "farmed") as server:
        campaign_url = f"{server.url}/farmed"
        # It has the time for some of the tasks, and leaves most of them to this one, which says three lines.
        other = Worker(tmp_path, server, token.read_text(), **slowed(slower, 0.5))
        server.wait_until(lambda: "joined: " in server.log)
        words = [
            "work",
            campaign_url,
            "--workers",
            "1",
            "--token-file",
            str(token),
            "--outbox",
            str(tmp_path / "o"),
        ]
        with kept_signals():
            done = CliRunner().invoke(cli, words, standalone_mode=False)
        other.end()
    assert done.exit_code == 0, done
    lines = [line for line in done.stderr.splitlines() if "% of the work" in line]
    assert len(lines) >= 3, done.stderr
    share, numbers = r"[\d.]+%", rf"(\d+)/{campaign.tasks} tasks, (\d+) of them here"
    pattern = rf"farmed: {share} of the work, {numbers} \({share}\)(, about .* left)?"
    found = [re.fullmatch(pattern, line) for line in lines]
    assert all(found), lines
    tasks = [(int(match[1]), int(match[2])) for match in found if match]
    assert tasks == sorted(tasks)
    assert all(done_by_all >= done_here for done_by_all, done_here in tasks)
    # The other one works too, and this one hears of it.
    assert any(done_by_all > done_here for done_by_all, done_here in tasks)


@contextlib.contextmanager
def kept_signals() -> Iterator[None]:
    """The handlers of signals are afterwards what they were."""
    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2]
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_worker_on_a_terminal_has_a_bar(ledger: Ledger, tmp_path: Path) -> None:
    campaign = create(ledger, SHORT)
    variables = {"LANGFORD_TOKEN": campaign.new_token(Role.WORKER), "TERM": "xterm"}
    environment = {**ENVIRONMENT, **slowed(tmp_path, 0.5), **variables}
    with Server(tmp_path, "farmed") as server:
        words = ["work", f"{server.url}/farmed", "--workers", "1", "--outbox", "o", "--time-limit", "4"]
        master, terminal = pty.openpty()
        with subprocess.Popen([*COMMAND, *words], cwd=tmp_path, env=environment, stderr=terminal) as worker:
            os.close(terminal)
            shown = b""
            with contextlib.suppress(OSError):  # the terminal ends with its last process
                while part := os.read(master, 65_536):
                    shown += part
            os.close(master)
        assert worker.returncode == 3
    text = shown.decode()
    assert re.search(rf"farmed.*%.*/{campaign.tasks:,} tasks, \d+ of them here", text), text
    assert "this is worker" in text


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", ["count 12", "run langford 12 --depth 8 --workers 1 --ledger l.db"])
def test_cold_kernels_are_said_to_compile_and_warm_ones_are_not(command: str, tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    said = []
    for _ in range(2):
        done = subprocess.run(
            [*COMMAND, *command.split(), "--method", "godfrey"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        (tmp_path / "l.db").unlink(missing_ok=True)
        said.append(re.findall("compiling the kernels of (.*), which takes", done.stderr))
    assert said == [["godfrey"], []]


def test_a_worker_says_that_it_compiles(ledger: Ledger, tmp_path: Path) -> None:
    campaign = create(ledger, SHORT)
    token = campaign.new_token(Role.WORKER)
    with Server(tmp_path, "farmed") as server:
        cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        assert Worker(tmp_path, server, token, **cache).end().count("compiling the kernels of") == 1
