"""Clients whose server is an enemy: none takes much memory or waits for ever, and each says what is wrong."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from jobs.reach import diagnosis, requests
from jobs.reach.remote import RemoteCampaign, ServerAway
from jobs.reach.requests import ServerRefuses
from jobs.show.hooks import NotDelivered, UrlHook
from tests.support.cases import few
from tests.support.command_line import ENVIRONMENT, Run
from tests.support.evil_servers import (
    ATTACKS,
    HEAD,
    Attack,
    EvilServer,
    encoded,
    measured,
    swelling,
    whole,
    without_end,
)
from tests.support.receivers import Receiver

MAX_MEBIBYTES = 300
GREEDIEST = ["a bomb", "a body without end", "JSON that swells"]


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The only line on standard error, which is no long one."""
    [line] = done.stderr.splitlines()
    assert len(line) < 1_000
    return line


def asked(url: str) -> str:
    """What a client says after one request to a server that does not answer as it should."""
    server = RemoteCampaign(url, "t")
    try:
        with pytest.raises((ServerAway, ServerRefuses)) as raised:
            server.info()
        with pytest.raises((ServerAway, ServerRefuses)):
            server.deliver([])
    finally:
        server.close()
    return str(raised.value)


@pytest.mark.parametrize("attack", list(ATTACKS))
def test_every_answer_is_understood_or_refused_in_a_line(attack: str) -> None:
    with EvilServer(ATTACKS[attack]) as server:
        said = asked(server.url)
        # The client that is answered by no HTTP may look whether that is TLS.
        asking = [request.lower() for request in server.requests if request.startswith((b"GET", b"POST"))]
    assert asking
    assert all(b"accept-encoding: identity" in request for request in asking)
    assert len(said) < 600
    assert ("encodes its answers" in said) == ("bomb" in attack or "encoding" in attack)


@pytest.mark.parametrize("attack", few(GREEDIEST, 2))
def test_the_memory_of_status_is_bounded(attack: str, tmp_path: Path) -> None:
    with EvilServer(ATTACKS[attack]) as server:
        done, peak = measured(tmp_path, "status", server.url)
    assert done.returncode == 2, done.stderr
    assert one_line(done).startswith("langford: no task server answers") or attack == "JSON that swells"
    assert peak < MAX_MEBIBYTES


@pytest.mark.parametrize("attack", few(GREEDIEST, 2))
def test_the_memory_of_a_worker_is_bounded(attack: str, tmp_path: Path) -> None:
    with EvilServer(ATTACKS[attack]) as server:
        options = ["--outbox", "outbox", "--workers", "1", "--time-limit", "4"]
        done, peak = measured(tmp_path, "work", server.url, *options)
        assert server.requests
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert peak < MAX_MEBIBYTES


@pytest.mark.parametrize(
    ("attack", "pause"),
    [
        (without_end(b" "), 0.05),
        (without_end(b"X", HEAD), 0.05),
        (without_end(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000, b""), 0.0),
        (without_end(b"", b""), 0.05),
    ],
    ids=["body", "head", "continue", "silence"],
)
def test_an_answer_that_takes_for_ever_is_given_up(
    attack: Attack, pause: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MAX_SECONDS", 0.5)
    monkeypatch.setattr(requests, "TIMEOUT_SECONDS", 1.0)
    with EvilServer(attack, pause) as server:
        before = set(threading.enumerate())
        client = RemoteCampaign(server.url, "t")
        for _ in range(2):
            with pytest.raises(ServerAway, match="no whole answer from"):
                client.info()
        client.close()
    # What still read has ended, too: a worker asks for days.
    deadline = time.monotonic() + 60
    while any(thread.name.startswith("Thread-") and "_serve" in thread.name for thread in threads_since(before)):
        assert time.monotonic() < deadline, threads_since(before)
        time.sleep(0.05)


def threads_since(before: set[threading.Thread]) -> list[threading.Thread]:
    """Threads that were not there before, except that of the last call."""
    return [thread for thread in threading.enumerate() if thread not in before]


def test_a_handshake_that_takes_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that asks itself whether the server speaks TLS is answered byte by byte."""
    monkeypatch.setattr(requests, "MAX_SECONDS", 0.5)
    monkeypatch.setattr(diagnosis, "CONNECT_SECONDS", 60.0)
    # The first connection is no HTTP, so that the client looks what it is.
    with EvilServer(without_end(b"\x16\x03\x03\x40\x00" + bytes(50), b""), 0.05) as server:
        client = RemoteCampaign(server.url, "t")
        with pytest.raises(ServerAway):
            client.info()
        client.close()


def test_a_redirection_is_not_followed() -> None:
    with EvilServer(whole(b"[]")) as elsewhere:
        moved = [b"HTTP/1.1 307 Moved\r\nContent-Length: 0\r\nLocation: %b\r\n\r\n" % elsewhere.url.encode()]
        with EvilServer(lambda: iter(moved)) as server:
            assert "HTTP status 307" in asked(server.url)
        assert not elsewhere.requests


def test_an_identity_is_no_encoding() -> None:
    content = b'{"error": "busy"}'
    head = HEAD.replace(b"200 OK", b"503 Busy") + b"Content-Encoding: Identity\r\nContent-Length: %d\r\n\r\n"
    with EvilServer(lambda: iter([head % len(content) + content])) as server:
        assert "the server is busy: busy" in asked(server.url)


def test_what_swells_is_as_large_as_an_answer_may_be() -> None:
    assert requests.LARGEST_ANSWER - 10 < len(swelling(4 * 2**20)) <= requests.LARGEST_ANSWER


# -- the URL that is notified -------------------------------------------------------------------


def told(hook: UrlHook) -> str | None:
    """Why the hook was not told; None when it was."""
    try:
        hook.notify(b"{}")
    except NotDelivered as error:
        return str(error)
    return None


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name not in ("nothing", "no HTTP")])
def test_the_answer_of_a_receiver_is_not_read(attack: str) -> None:
    """Its status is enough."""
    with EvilServer(ATTACKS[attack]) as server:
        said = told(UrlHook(server.url))
        assert said is None or len(said) < 400
        assert server.sent < 2**24
        assert b"accept-encoding: identity" in server.requests[0].lower()


@pytest.mark.parametrize(
    ("attack", "pause"),
    [(without_end(b"H", b""), 0.05), (without_end(b"HTTP/1.1 100 Continue\r\n\r\n" * 100, b""), 0.0)],
    ids=["status", "continue"],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_receiver_that_answers_for_ever_is_given_up(attack: Attack, pause: float, scheme: str) -> None:
    with EvilServer(attack, pause) as server, pytest.raises(NotDelivered, match="does not answer"):
        UrlHook(server.url.replace("http", scheme), seconds=0.5).notify(b"{}")


def test_a_receiver_that_shakes_hands_for_ever_is_given_up() -> None:
    """One record of TLS, byte by byte."""
    record = iter(b"\x16\x03\x03\x40\x00" + bytes(16_000))
    drip = EvilServer(lambda: (bytes([byte]) for byte in record), 0.05)
    with drip as server, pytest.raises(NotDelivered, match="no whole answer in 1 s"):
        UrlHook(server.url.replace("http", "https"), seconds=1.0).notify(b"{}")


NOTIFY = """
import resource, sys
from jobs.show.hooks import NotDelivered, UrlHook
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    UrlHook(sys.argv[1]).notify(b"{}")
except NotDelivered:
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before >> 10)
"""


def test_the_memory_of_a_notification_is_bounded() -> None:
    for attack in (encoded("gzip, gzip"), ATTACKS["a body without end"], ATTACKS["headers without end"]):
        with EvilServer(attack) as server:
            command = [sys.executable, "-c", NOTIFY, server.url]
            done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=True)
        assert int(done.stdout) < 50


def test_a_receiver_is_told_all_the_same(langford: Run) -> None:
    """A run notifies one server that sends a bomb, and ends as it would."""
    with EvilServer(encoded("gzip, gzip")) as server, Receiver() as receiver:
        for name, url in (("evil", server.url), ("good", receiver.url)):
            done = langford("run", "langford", "8", "--depth", "4", "--name", name, "--notify-url", url)
            assert done.returncode == 0, done.stderr
        assert server.requests
    assert receiver.kinds() == ["done"]
