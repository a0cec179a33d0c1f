"""A real server among strangers: workers keep their share, whatever others send, hold or hold back."""

from __future__ import annotations

import contextlib
import logging
import re
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from db.states import Role
from jobs.farm.api import server
from jobs.farm.api.serving import HANDSHAKE_SECONDS, Serving
from jobs.farm.guard.connections import Connections, LimitedLog, Proxies, network_of
from tests.farm.farm import NAME as NAME_HERE
from tests.farm.farm import Farm
from tests.support.asgi import Client
from tests.support.campaigns import NAME, new_campaign
from tests.support.clock import MovableClock
from tests.support.command_line import ENVIRONMENT
from tests.support.databases import new_ledger
from tests.support.ports import free_port
from tests.support.preloaded import Preparation, preloaded
from tests.support.statements import statements_of

IDLE = 1_200
LOG_BYTES = 20_000


@pytest.fixture
def many_files() -> Iterator[None]:
    """Let this process, and no other, open enough connections."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4 * IDLE, before[1]), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def stopped(farm: Farm) -> str:
    """End the server; returns its log."""
    farm.server.send_signal(signal.SIGTERM)
    _, log = farm.server.communicate(timeout=30)
    return log


def test_idle_strangers_take_nothing_from_a_worker(farm: Farm, many_files: None) -> None:
    resource.prlimit(farm.server.pid, resource.RLIMIT_NOFILE, (1_024, 1_024))
    with contextlib.ExitStack() as held:
        idle = [held.enter_context(socket.create_connection(("127.0.0.1", farm.port))) for _ in range(IDLE)]
        worker = farm.work()
        for _ in range(3):
            farm.wait_until(lambda: farm.done() > 3)
            idle += [held.enter_context(socket.create_connection(("127.0.0.1", farm.port))) for _ in range(100)]
        farm.finish(worker)
    assert len(stopped(farm)) < LOG_BYTES


def test_noise_of_strangers_fills_no_log(farm: Farm) -> None:
    worker = farm.work()
    noise = [
        b"\x00" * 100,
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /campaigns/farmed HTTP/1.1\r\nHost: x\r\nContent-Length: --5\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"POST /campaigns/farmed/leases HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n"
        b"Content-Length: 9\r\n\r\n{",
        b"GET /campaigns/farmed HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 30_000,
        b"GET /campaigns/farmed HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \x1b[31m\xff\r\n\r\n",
    ]
    for _ in range(60):
        for message in noise:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", farm.port), 5) as stranger:
                stranger.sendall(message)
    farm.finish(worker)
    log = stopped(farm)
    assert len(log) < LOG_BYTES
    assert "\x1b" not in log
    assert "Traceback" not in log


SHORT_TIMES = """
import sys
from db import Ledger
from jobs.farm.api import server, serving
from jobs.farm.guard import listening
from jobs.farm.guard.connections import Connections, LimitedLog
ledger, connections, log = Ledger(sys.argv[1]), Connections(), LimitedLog()
application = server.application(ledger, [sys.argv[2]], None, connections, log)
limits = serving.Serving(header_seconds=float(sys.argv[4]), body_seconds=float(sys.argv[5]))
serving.serve(application, connections, log, listening.socket_of("127.0.0.1", int(sys.argv[3])), limits)
"""


def serve_with(farm: Farm, header_seconds: float, body_seconds: float) -> None:
    """Replace the server by one that waits for these times."""
    farm.server.kill()
    farm.server.wait()
    arguments = [
        str(farm.folder / "langford.db"),
        NAME_HERE,
        str(farm.port),
        str(header_seconds),
        str(body_seconds),
    ]
    farm.server = subprocess.Popen([sys.executable, "-c", SHORT_TIMES, *arguments], env=ENVIRONMENT)
    farm.processes.append(farm.server)
    deadline = time.monotonic() + 60
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", farm.port), 1):
            return
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_cut_off(port: int, start: bytes, drop: bytes) -> bool:
    """Whether a server closes the connection of a client that sends ``start``, and then ``drop`` now and then."""
    with socket.create_connection(("127.0.0.1", port), 30) as stranger:
        stranger.sendall(start)
        stranger.settimeout(0.1)
        for _ in range(300):
            try:
                return stranger.recv(1) == b""
            except TimeoutError:
                with contextlib.suppress(OSError):
                    stranger.sendall(drop)
            except ConnectionResetError:
                return True
    return False


def test_headers_that_never_end(farm: Farm) -> None:
    assert Serving().header_seconds == 10
    serve_with(farm, header_seconds=2, body_seconds=60)
    half = b"GET /campaigns/farmed HTTP/1.1\r\nHost: x\r\n"
    with ThreadPoolExecutor() as pool:
        cases = [(b"", b""), (b"G", b"x"), (half, b"x")]
        assert list(pool.map(lambda case: is_cut_off(farm.port, *case), cases)) == [True] * len(cases)


def test_bodies_that_never_end(farm: Farm) -> None:
    """The time for a body is its own: shorter here than that for the headers."""
    assert Serving().body_seconds == 60
    serve_with(farm, header_seconds=600, body_seconds=2)
    head = (
        f"POST /campaigns/{NAME_HERE}/leases HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {farm.token}\r\n"
        "Content-Length: 1000\r\n\r\n{"
    )
    assert is_cut_off(farm.port, head.encode(), b" ")
    farm.finish(farm.work())


def test_the_log_explains_what_the_answer_does_not(farm: Farm) -> None:
    database = sqlite3.connect(farm.folder / "langford.db", isolation_level=None)
    headers = {"Authorization": f"Bearer {farm.token}"}
    url = f"http://127.0.0.1:{farm.port}/campaigns/farmed"
    assert httpx.get(url, headers=headers).status_code == 200
    database.execute("ALTER TABLE task RENAME TO gone")
    answer = httpx.get(url, headers=headers)
    assert answer.status_code == 503
    message = answer.json()["error"]
    number = re.search(r"[0-9a-f]{12}", message)
    assert number is not None
    assert "langford.db" not in message
    assert "task" not in message
    database.execute("ALTER TABLE gone RENAME TO task")
    assert httpx.get(url, headers=headers).status_code == 200
    log = stopped(farm)
    assert number[0] in log
    assert "no such table" in log


def test_addresses_that_a_proxy_names() -> None:
    proxies = Proxies(frozenset({"10.0.0.1", "10.0.0.2"}))
    assert proxies.client("10.0.0.1", "192.0.2.1, 10.0.0.2") == "192.0.2.1"
    assert proxies.client("10.0.0.1", "6.6.6.6, 192.0.2.1") == "192.0.2.1"
    assert proxies.client("192.0.2.7", "6.6.6.6") == "192.0.2.7"
    for nonsense in ("", "x", "1.2.3.4.5", "\x1b[31m", ",,,", "9" * 10_000):
        assert proxies.client("10.0.0.1", nonsense) == "10.0.0.1"
    assert network_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff")


class Wire:
    """A connection that can be seen to be closed."""

    def __init__(self, address: str, busy: bool = False) -> None:
        self.address, self.busy, self.open = address, busy, True

    def abort(self) -> None:
        self.open = False


def test_the_oldest_idle_stranger_makes_room() -> None:
    connections = Connections(strangers=6, per_address=3)
    wires = [Wire("a", busy=True), *(Wire("a") for _ in range(4))]
    assert [connections.opened(wire) for wire in wires] == [False, False, False, True, True]
    assert [wire.open for wire in wires] == [True, False, False, True, True]
    worker = Wire("a")
    connections.opened(worker, ("a", 1))
    connections.vouch(("a", 1))
    others = [Wire(str(number)) for number in range(20)]
    for wire in others:
        connections.opened(wire)
    assert worker.open
    assert sum(wire.open for wire in others) <= 6
    assert others[-1].open


def test_strangers_hold_no_more_than_they_may() -> None:
    connections = Connections(strangers=3, per_address=1, proxies=["proxy"])
    wires = [Wire("proxy") for _ in range(4)]
    assert [connections.opened(wire) for wire in wires] == [False, False, False, True]
    assert [wire.open for wire in wires] == [False, True, True, True]


def test_all_connections_are_limited() -> None:
    connections = Connections(strangers=6, per_address=3)
    connections.most = 3
    workers = [Wire("a") for _ in range(3)]
    for port, wire in enumerate(workers):
        assert not connections.opened(wire, ("a", port))
        connections.vouch(("a", port))
    late = Wire("b", busy=True)
    assert connections.opened(late)
    assert [wire.open for wire in (*workers, late)] == [True, True, True, False]
    connections.closed(late, ("b", 1))
    connections.closed(workers[0], ("a", 0))
    assert not connections.knows(("a", 0))
    assert not connections.opened(Wire("b"))


def test_each_address_has_its_lines(caplog: pytest.LogCaptureFixture) -> None:
    clock = MovableClock()
    log = LimitedLog(3, clock)
    with caplog.at_level(logging.WARNING):
        for _ in range(1_000):
            log.say("a", "noise")
        for number in range(5_000):
            log.say(f"b{number}", "noise")
        log.say("a", "noise")
    lines = [record.getMessage() for record in caplog.records]
    assert sum(line.startswith("a:") for line in lines) == 3
    assert len(lines) < 2_100
    clock.move(60)
    with caplog.at_level(logging.WARNING):
        log.say("a", "noise")
    assert caplog.records[-1].getMessage() == "a: noise"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[tuple[Client, str]]:
    with new_ledger("sqlite", tmp_path) as ledger:
        token = new_campaign(ledger).new_token(Role.WORKER)
        opened = Client(server.application(ledger, [NAME], server.RateLimit(1e6, 1e6)))
        yield opened, token
        opened.close()


def test_a_wrong_name_costs_what_a_wrong_token_does(client: tuple[Client, str]) -> None:
    """By what the server does, not by a clock: the same look-up for both."""
    http, _ = client
    seen = []
    for name in (NAME, "absent"):
        with statements_of() as done:
            answer = http.get(f"/campaigns/{name}", headers={"Authorization": "Bearer wrong"})
        seen.append((answer.status_code, answer.text, tuple(done)))
    assert seen[0] == seen[1]
    assert seen[0][0] == 403
    assert len(seen[0][2]) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"worker": "w"},
        {"worker": str(uuid.UUID(int=1)).upper() + "\x1b"},
        {"worker": "x" * 5_000},
        {"worker": 7},
        {"host": "x" * 256},
        {"host": "\x1b[2J"},
        {"host": None},
        {"process": "x"},
        {"process": "@"},
        {"process": "-1"},
        {"process": "٣"},
        {"process": "1" * 20},
        {"device_kind": "tpu"},
        {"device_kind": ["cpu"]},
        {"cores": -1},
        {"cores": 2**31},
        {"cores": True},
        {"processes": "2"},
        {"device_model": "x" * 201},
        {"device_model": "a\nb"},
        {"slurm_job": 7},
        {"slurm_job": "7" * 41},
        {"slurm_index": -1},
        {"memory": 1},
        {"more": 1},
    ],
    ids=lambda fields: f"{fields!r:.30}".encode("ascii", "backslashreplace").decode(),
)
def test_identities_are_checked(client: tuple[Client, str], fields: dict[str, object]) -> None:
    http, token = client
    identity = {"worker": str(uuid.uuid4()), "host": "h", "process": "1@2@3", "device_kind": "cpu", "kernels": "1"}
    identity |= dict.fromkeys(["cores", "processes", "device_model", "slurm_job", "slurm_index"])
    headers = {"Authorization": f"Bearer {token}"}
    assert http.post(f"/campaigns/{NAME}/workers", json=identity, headers=headers).status_code == 200
    answer = http.post(f"/campaigns/{NAME}/workers", json=identity | fields, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"].isprintable()


NO_INTEGERS = ["--5", "+5", "٣", "1e400", "-1e400", "NaN", "Infinity", "9" * 5_000, "5.0", '"5"', "0x5", "-1"]
BODIES = {
    "leases": '{"worker": "a", "count": NUMBER, "seconds": 60}',
    "renewals": '{"attempts": [NUMBER], "seconds": 60}',
    "failures": '{"attempt": NUMBER, "reason": ""}',
    "results": '{"deliveries": [{"attempt": 1, "index": NUMBER, "value": "1", "residue": "1", "evaluated": "1", '
    '"seconds": 1, "provenance": ""}]}',
}


@pytest.mark.parametrize("number", NO_INTEGERS, ids=lambda number: ascii(number)[:9])
def test_malformed_numbers_are_bad_messages(client: tuple[Client, str], number: str) -> None:
    http, token = client
    headers = {"Authorization": f"Bearer {token}"}
    bodies = [(path, body.replace("NUMBER", number)) for path, body in BODIES.items()]
    if number != '"5"':  # an index may be text, as outboxes of version 0.1 have it
        bodies.append(("results", BODIES["results"].replace("NUMBER", "1").replace('"1"', f'"{number}."', 1)))
    else:
        del bodies[-1]
    for path, body in bodies:
        answer = http.post(f"/campaigns/{NAME}/{path}", content=body.encode(), headers=headers)
        assert answer.status_code == 400, (path, answer.text)


@pytest.mark.parametrize("seconds", ["--5", "+5", "1e400", "-1", "NaN", "Infinity", '"5"', "true", "null", "[]"])
def test_malformed_durations_are_bad_messages(client: tuple[Client, str], seconds: str) -> None:
    http, token = client
    body = f'{{"worker": "a", "count": 1, "seconds": {seconds}}}'
    headers = {"Authorization": f"Bearer {token}"}
    assert http.post(f"/campaigns/{NAME}/leases", content=body.encode(), headers=headers).status_code == 400


def test_a_server_with_tls_closes_who_says_nothing(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    made = subprocess.run(
        ["openssl", "req", *options, "-keyout", str(key), "-out", str(certificate)],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("needs openssl")
    assert HANDSHAKE_SECONDS == 10
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        new_campaign(ledger)
    port, soon = free_port(), {"jobs.farm.api.serving:HANDSHAKE_SECONDS": 2.0}
    command = ["serve", NAME, "--port", str(port), "--certificate", str(certificate), "--key", str(key)]
    prepare: Preparation = "tests.support.preloaded:adapt", {"values": soon}
    served = preloaded().start(command, tmp_path, ENVIRONMENT, prepare=prepare)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 60) as stranger:
                began = time.monotonic()
                with contextlib.suppress(ConnectionResetError):
                    assert stranger.recv(1) == b""
                assert time.monotonic() - began > 1, "it waits for what he may say"
                return
            time.sleep(0.1)
        raise AssertionError("no server")
    finally:
        served.kill()
        served.wait()
