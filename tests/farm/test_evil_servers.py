"""Clients whose server is an enemy: none takes much memory or waits for ever, and each says what is wrong."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from functools import cache, reduce
from types import TracebackType

import pytest

from jobs.reach import diagnosis, requests
from jobs.reach.remote import RemoteServer
from jobs.reach.requests import ServerAway, ServerRefuses

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Attack = Callable[[], Iterator[bytes]]
"""What a server sends, part by part; it stops when nobody reads any more."""


class EvilServer:
    """A server on this machine that answers every request in one way; a context manager.

    Attributes:
        url: of a campaign there.
        requests: what came, as far as it was read.
        sent: bytes that somebody took.
    """

    def __init__(self, attack: Attack, pause: float = 0.0) -> None:
        """``pause``: seconds between two parts of an answer."""
        self.requests: list[bytes] = []
        self.sent = 0
        self._attack, self._pause = attack, pause
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/evil"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=[connection], daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            self.requests.append(connection.recv(65_536))
            for part in self._attack():
                connection.sendall(part)
                self.sent += len(part)
                time.sleep(self._pause)

    def __enter__(self) -> EvilServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


# -- answers ----------------------------------------------------------------------------------


@cache
def bomb(layers: int = 2, mebibytes: int = 512) -> bytes:
    """Zeros, packed again and again: 512 MiB in some kilobytes."""
    # After a full flush the same bytes say the same again: each MiB is packed as the first one.
    packing, zeros = zlib.compressobj(9, wbits=-15), bytes(2**20)
    part = packing.compress(zeros) + packing.flush(zlib.Z_FULL_FLUSH)
    check = reduce(lambda check, _: zlib.crc32(zeros, check), range(mebibytes), 0)
    head, end = b"\x1f\x8b\x08" + bytes(6) + b"\xff", b"\x03\x00"
    content = head + mebibytes * part + end + struct.pack("<II", check, mebibytes << 20)
    for _ in range(layers - 1):
        packing = zlib.compressobj(9, wbits=31)
        content = packing.compress(content) + packing.flush()
    return content


def encoded(name: str) -> Attack:
    """A bomb that says how it is packed."""
    return lambda: iter(
        [HEAD + b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (name.encode(), len(bomb())) + bomb()]
    )


def whole(content: bytes, status: bytes = b"200 OK") -> Attack:
    """A proper answer."""
    head = HEAD.replace(b"200 OK", status) + b"Content-Length: %d\r\n\r\n" % len(content)
    return lambda: iter([head + content])


def without_end(part: bytes, head: bytes = HEAD + b"\r\n") -> Attack:
    """A head, and one part for ever."""

    def parts() -> Iterator[bytes]:
        yield head
        while True:
            yield part

    return parts


def swelling(size: int) -> bytes:
    """JSON that takes the most memory for its bytes."""
    part = b'{"":0},'
    return b"[" + part * (size // len(part) - 1) + b"0]"


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
ATTACKS: dict[str, Attack] = {
    "a bomb": encoded("gzip, gzip"),
    "a bomb of one layer": encoded("gzip"),
    "a bomb beside identity": encoded("identity, gzip"),
    "a bomb in capitals": encoded("GZip"),
    "an encoding that is none": encoded("zip-of-mine"),
    "a body without end": without_end(bytes(2**20)),
    "a body with a length that never ends": without_end(bytes(2**20), HEAD + b"Content-Length: %d\r\n\r\n" % 2**60),
    "chunks without end": without_end(b"100000\r\n" + bytes(2**20) + b"\r\n", CHUNKED),
    "a chunk with an extension without end": without_end(b"x" * 2**20, CHUNKED + b"1;"),
    "trailers without end": without_end(b"X-More: y\r\n" * 10_000, CHUNKED + b"2\r\n[]\r\n0\r\n"),
    "headers without end": without_end(b"X-More: y\r\n" * 10_000, HEAD),
    "a header without end": without_end(b"y" * 2**20, HEAD + b"X-More: "),
    "a status without end": without_end(b"y" * 2**20, b"HTTP/1.1 200 "),
    "a length too large": lambda: iter([HEAD + b"Content-Length: 100\r\n\r\n[]"]),
    "a length below 0": lambda: iter([HEAD + b"Content-Length: -1\r\n\r\n[]"]),
    "two lengths": lambda: iter([HEAD + b"Content-Length: 2\r\nContent-Length: 1\r\n\r\n[]"]),
    "a length that is none": lambda: iter([HEAD + b"Content-Length: 0x2\r\n\r\n[]"]),
    "an answer that goes on": lambda: iter([HEAD + b"Content-Length: 2\r\n\r\n[]" + bytes(2**20)]),
    "JSON that swells": lambda: iter([HEAD + b"\r\n" + swelling(4 * 2**20)]),
    "an error that swells": whole(b'{"error": "' + b"x" * (4 * 2**20 - 100) + b'"}', b"503 Busy"),
    "an error that is none": whole(b'{"error": ' + swelling(2**20) + b"}", b"503 Busy"),
    "deep JSON": whole(b"[" * 2**20),
    "nothing": lambda: iter([]),
    "no HTTP": lambda: iter([b"\x00\xff" * 100_000]),
}
"""Answers to a GET, each of which ends, or is to be ended, at once."""


# -- workers ---------------------------------------------------------------------------------


@contextlib.contextmanager
def little_memory() -> Iterator[None]:
    """Whatever a server sends, 64 MiB are enough: some answers are ten times as large, or have no end."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26


def asked(url: str) -> str:
    """What a client says after one request to a server that does not answer as it should."""
    server = RemoteServer(url, "t").campaign()
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
    with EvilServer(ATTACKS[attack]) as server, little_memory():
        said = asked(server.url)
        # The client that is answered by no HTTP may look whether that is TLS.
        asking = [request.lower() for request in server.requests if request.startswith((b"GET", b"POST"))]
    assert asking
    assert all(b"accept-encoding: identity" in request for request in asking)
    assert len(said) < 600
    assert ("compresses its answers" in said) == ("bomb" in attack or "encoding" in attack)


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
        client = RemoteServer(server.url, "t").campaign()
        for _ in range(2):
            with pytest.raises(ServerAway, match="incomplete answer from"):
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
        client = RemoteServer(server.url, "t").campaign()
        with pytest.raises(ServerAway):
            client.info()
        client.close()


@pytest.mark.parametrize("status", [301, 307])
def test_a_redirection_is_named_and_not_followed(status: int) -> None:
    """Of a server under a path, as behind a proxy."""
    with EvilServer(whole(b"[]")) as elsewhere:
        there = elsewhere.url.replace("/evil", "/farm/campaigns/evil").encode()
        moved = [b"HTTP/1.1 %d Moved\r\nContent-Length: 0\r\nLocation: %b\r\n\r\n" % (status, there)]
        with EvilServer(lambda: iter(moved)) as server:
            said = asked(server.url.replace("/evil", "/farm/evil"))
            assert server.requests[0].startswith(b"GET /farm/campaigns/evil ")
        assert f"HTTP status {status}" in said
        assert f"has moved to {there.decode()}" in said
        assert not elsewhere.requests


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with EvilServer(whole(b"[]")) as server:
        asked(server.url)
        assert server.requests[0].startswith(b"GET /campaigns/"), "not by the search for the reason of a failure"


def test_an_identity_is_no_encoding() -> None:
    content = b'{"error": "busy"}'
    head = HEAD.replace(b"200 OK", b"503 Busy") + b"Content-Encoding: Identity\r\nContent-Length: %d\r\n\r\n"
    with EvilServer(lambda: iter([head % len(content) + content])) as server:
        assert "the server is busy: busy" in asked(server.url)
