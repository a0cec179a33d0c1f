"""A real server among strangers and dashboards: workers keep their share, whatever others send or hold."""

from __future__ import annotations

import contextlib
import errno
import logging
import resource
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path

import httpx
import pytest

from db.states import Role
from jobs.farm.guard.addresses import address_of, network_of
from jobs.farm.guard.bounds import STRANGERS_OF_AN_ADDRESS
from jobs.farm.guard.limited_log import LimitedLog
from tests.support.asgi import Served
from tests.support.campaigns import NAME
from tests.support.clock import MovableClock
from tests.support.farm import NAME as FARMED
from tests.support.farm import Farm
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


NOISE = [
    b"\x00" * 100,
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /campaigns/farmed HTTP/1.1\r\nHost: x\r\nContent-Length: --5\r\n\r\n",
    b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"POST /campaigns/farmed/leases HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nContent-Length: 9\r\n\r\n{",
    b"GET /campaigns/farmed HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 30_000,
    b"GET /campaigns/farmed HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \x1b[31m\xff\r\n\r\n",
]


@pytest.mark.exhaustive
def test_strangers_take_nothing_from_a_worker_and_fill_no_log(farm: Farm, many_files: None) -> None:
    """Some say nothing, some make noise, and there are more than the server may have open."""
    resource.prlimit(farm.server.pid, resource.RLIMIT_NOFILE, (1_024, 1_024))
    with contextlib.ExitStack() as held:
        for _ in range(IDLE):
            held.enter_context(socket.create_connection(("127.0.0.1", farm.port)))
        worker = farm.work()
        for message in 20 * NOISE:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", farm.port), 5) as stranger:
                stranger.sendall(message)
        farm.wait_until(lambda: farm.done() > 3)
        for _ in range(100):
            held.enter_context(socket.create_connection(("127.0.0.1", farm.port)))
        farm.finish(worker)
    farm.server.terminate()
    _, log = farm.server.communicate(timeout=30)
    assert len(log) < LOG_BYTES
    assert "\x1b" not in log
    assert "Traceback" not in log


def test_addresses_that_a_proxy_names() -> None:
    proxies = {"10.0.0.1", "10.0.0.2"}
    assert address_of("10.0.0.1", "192.0.2.1, 10.0.0.2", proxies) == "192.0.2.1"
    assert address_of("10.0.0.1", "6.6.6.6, 192.0.2.1", proxies) == "192.0.2.1"
    assert address_of("192.0.2.7", "6.6.6.6", proxies) == "192.0.2.7"
    for nonsense in ("", "x", "1.2.3.4.5", "\x1b[31m", ",,,", "9" * 10_000):
        assert address_of("10.0.0.1", nonsense, proxies) == "10.0.0.1"
    assert network_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff")


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
    with caplog.at_level(logging.INFO):
        log.say("a", "noise")
        for _ in range(100):
            log.say("a", "an error", OSError(errno.EMFILE, "no more files"))
    assert caplog.records[-2].getMessage() == "a: noise"
    assert "(ulimit -n is " in caplog.records[-1].getMessage()
    error, cause = ValueError("a"), KeyError("b")
    error.__cause__, cause.__cause__ = cause, error
    log.say("a", "a circle", error)
    assert caplog.records[-1].getMessage() == "a: a circle"


def test_a_wrong_name_costs_what_a_wrong_token_does(tmp_path: Path) -> None:
    """By what the server does, not by a clock: the same look-up for both."""
    farm, seen = Served.with_all_roles(tmp_path), []
    for name in (NAME, "absent"):
        with statements_of() as done:
            answer = farm.client.get(f"/campaigns/{name}", headers={"Authorization": "Bearer wrong"})
        seen.append((answer.status_code, answer.text, tuple(done)))
    assert seen[0] == seen[1]
    assert seen[0][0] == 403
    assert len(seen[0][2]) == 1
    farm.close()


# -- dashboards -----------------------------------------------------------------------------------


class Dashboards:
    """Connections on which the status of a farm's campaign is asked for, some with each token."""

    def __init__(self, farm: Farm, number: int, with_each: int = 32) -> None:
        self.open: list[tuple[HTTPConnection, dict[str, str]]] = []
        for place in range(number):
            if place % with_each == 0:
                shown = {"Authorization": f"Bearer {farm.campaign.operator.new_token(Role.READER)}"}
            self.open.append((HTTPConnection("127.0.0.1", farm.port, timeout=30), shown))
            self.look(place)

    def look(self, place: int) -> None:
        connection, shown = self.open[place]
        connection.request("GET", f"/campaigns/{FARMED}/status", headers=shown)
        with connection.getresponse() as answer:
            assert answer.status == 200
            answer.read()

    def close(self) -> None:
        for connection, _ in self.open:
            connection.close()


def test_neither_they_nor_requests_that_never_arrive_whole_delay_the_end(farm: Farm) -> None:
    """The server waited for the requests, and logged a traceback for each."""
    head = f"POST /campaigns/{FARMED}/results HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {farm.token}\r\n"
    with ExitStack() as opened:
        opened.callback(Dashboards(farm, 20).close)
        for _ in range(20):
            connection = opened.enter_context(socket.create_connection(("127.0.0.1", farm.port), 30))
            connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{{".encode())
        headers = {"Authorization": f"Bearer {farm.token}"}
        assert httpx.get(f"http://127.0.0.1:{farm.port}/campaigns/{FARMED}", headers=headers).status_code == 200
        farm.server.send_signal(signal.SIGTERM)
        _, log = farm.server.communicate(timeout=30)
    assert "Traceback" not in log


def test_a_server_ends_that_is_told_so_while_it_starts(farm: Farm) -> None:
    """The socket listens before the server has its handlers of signals."""
    for pause in (0.0, 0.1):
        farm.server.kill()
        farm.server.wait()
        farm.server = farm.serve()
        time.sleep(pause)
        farm.server.send_signal(signal.SIGTERM)
        farm.server.wait(15)


def test_they_are_no_strangers(farm: Farm) -> None:
    with ExitStack() as opened:
        watching = Dashboards(farm, 2 * STRANGERS_OF_AN_ADDRESS)
        opened.callback(watching.close)
        strangers = [opened.enter_context(socket.create_connection(("127.0.0.1", farm.port))) for _ in range(10)]
        headers = {"Authorization": f"Bearer {farm.token}"}
        assert httpx.get(f"http://127.0.0.1:{farm.port}/campaigns/{FARMED}", headers=headers).status_code == 200
        for place in (0, -1):
            watching.look(place)
        for stranger in strangers:
            stranger.setblocking(False)
            with pytest.raises(BlockingIOError):
                stranger.recv(1)
