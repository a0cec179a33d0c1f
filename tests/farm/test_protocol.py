"""HTTP on one connection of the server: what is parsed of what strangers send, and how long it waits for them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import pytest
import uvicorn
from uvicorn.server import ServerState

from jobs.farm.api.serving import HANDSHAKE_SECONDS, GuardedLoop, socket_of
from jobs.farm.guard.connections import Connections, LimitedLog
from jobs.farm.guard.protocol import (
    BODY_SECONDS,
    HEADER_SECONDS,
    PIECE,
    TAKING_SECONDS,
    UNWANTED_SECONDS,
    GuardedProtocol,
    Serving,
    Turns,
)

CHUNKS = b"1\r\nx\r\n" * 20_000
POST = b"POST /campaigns/x/leases HTTP/1.1\r\nHost: x\r\n"
IN_CHUNKS = POST + b"Transfer-Encoding: chunked\r\n\r\n"
Receive, Send = Callable[[], Awaitable[dict[str, Any]]], Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]
T = TypeVar("T")


async def refusal(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """An application that answers 401, and reads no body."""
    await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"no"})


async def words(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """An application that reads the body, and answers without end."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        await send({"type": "http.response.body", "body": bytes(2**20), "more_body": True})
        await asyncio.sleep(0)  # of a connection that is gone nothing is waited for


class MovableLoop(GuardedLoop):
    """The event loop of the server, whose time a test moves."""

    moved = 0.0

    def time(self) -> float:
        return super().time() + self.moved

    async def pass_time(self, seconds: float) -> None:
        """Let time pass, and do what is due."""
        await self.settle()
        self.moved += seconds
        await self.settle()

    async def settle(self) -> None:
        """Do what is due, and what follows from it at once."""
        for _ in range(10):
            await asyncio.sleep(0)


def run(coroutine: Callable[[MovableLoop], Coroutine[Any, Any, T]]) -> T:
    """Run a test on a loop of its own, for at most a minute of real time, which shows that it hangs."""
    with asyncio.Runner(loop_factory=MovableLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, MovableLoop)
        return runner.run(asyncio.wait_for(coroutine(loop), 3_600))


class Counting:
    """Counts the bytes that h11 parses."""

    def __init__(self, conn: Any) -> None:
        self.parsed, self._receive = 0, conn.receive_data
        conn.receive_data = self.receive_data

    def receive_data(self, data: bytes) -> None:
        self.parsed += len(data)
        self._receive(data)


class Connection:
    """A connection to an application, with the server's end of it.

    Attributes:
        reader, writer: the client's end.
        protocol: the server's end.
        counting: counts the bytes that the server parses.
    """

    def __init__(self, application: Application) -> None:
        config = uvicorn.Config(application, http="h11", lifespan="off", log_config=None, access_log=False)  # type: ignore[arg-type]
        config.load()
        guard = {"connections": Connections(), "log": LimitedLog(), "serving": Serving(), "turns": Turns()}
        self.protocol = GuardedProtocol(config=config, server_state=ServerState(), app_state={}, **guard)
        self.counting = Counting(self.protocol.conn)

    async def open(self, *sent: bytes) -> Connection:
        ours, theirs = socket.socketpair()
        await asyncio.get_running_loop().connect_accepted_socket(lambda: self.protocol, ours)
        self.reader, self.writer = await asyncio.open_connection(sock=theirs)
        self.writer.writelines(sent)
        return self

    @property
    def is_cut_off(self) -> bool:
        return self.protocol.transport.is_closing()


async def parsed_of(sent: bytes, loop: MovableLoop) -> tuple[bytes, int]:
    """What a client that never stops sending receives, and how many of its bytes were parsed."""
    connection = await Connection(refusal).open(sent)

    async def send() -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                connection.writer.write(CHUNKS)
                await connection.writer.drain()

    sending = asyncio.create_task(send())
    received = await connection.reader.readuntil(b"no")
    await loop.pass_time(UNWANTED_SECONDS + 1)
    with contextlib.suppress(ConnectionError):
        received += await connection.reader.read()
    sending.cancel()
    connection.writer.close()
    return received, connection.counting.parsed


def test_a_body_in_chunks_is_not_parsed_once_its_request_is_refused() -> None:
    """Chunks of a byte cost 10 µs a byte; the server went on for a minute after the stranger had left."""
    received, parsed = run(lambda loop: parsed_of(IN_CHUNKS, loop))
    assert received.startswith(b"HTTP/1.1 401")
    assert received.endswith(b"no")
    assert parsed <= 4 * PIECE, parsed


async def answers_of(*sent: bytes) -> bytes:
    """What a client receives that waits for an answer before each part of what it sends but the first."""
    connection = await Connection(refusal).open()
    received = b""
    for part in sent:
        connection.writer.write(part)
        received += await connection.reader.readuntil(b"no")
    connection.writer.close()
    return received


@pytest.mark.parametrize("size", [2, 2_000, 60_000])
def test_a_request_after_a_refused_body_in_chunks_is_answered(size: int) -> None:
    """A proxy may send a body in chunks after the answer, and other requests on the same connection."""
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (size, b"x" * size)
    following = b"GET /campaigns/x HTTP/1.1\r\nHost: x\r\n\r\n"
    for sent in ([IN_CHUNKS, body + following], [IN_CHUNKS + body, following]):
        received = run(lambda _, sent=sent: answers_of(*sent))  # type: ignore[misc]
        assert received.count(b"HTTP/1.1 401") == 2


# -- who keeps the server waiting -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "drop", "seconds"),
    [
        (b"", b"", HEADER_SECONDS),
        (b"G", b"x", HEADER_SECONDS),
        (POST, b"x", HEADER_SECONDS),
        (POST + b"Content-Length: 1000\r\n\r\n{", b" ", BODY_SECONDS),
    ],
)
def test_headers_and_bodies_that_never_end(start: bytes, drop: bytes, seconds: float) -> None:
    async def wait(loop: MovableLoop) -> None:
        connection = await Connection(words).open(start)
        for _ in range(2):
            await loop.pass_time(0.49 * seconds)
            assert not connection.is_cut_off
            connection.writer.write(drop)
        await loop.pass_time(0.04 * seconds)
        assert connection.is_cut_off
        connection.writer.close()

    run(wait)


def test_who_takes_nothing_is_cut_off() -> None:
    async def wait(loop: MovableLoop) -> None:
        request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        sleeper, reader = [await Connection(words).open(request) for _ in range(2)]
        sleeper.reader._transport.pause_reading()  # type: ignore[attr-defined]  # noqa: SLF001
        for _ in range(2):
            await reader.reader.readexactly(8 * 2**20)
            await loop.pass_time(0.6 * TAKING_SECONDS)
        assert (sleeper.is_cut_off, reader.is_cut_off) == (True, False)
        for each in (sleeper, reader):
            each.writer.transport.abort()

    run(wait)


def test_a_handshake_that_never_begins() -> None:
    async def wait(loop: MovableLoop) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        async with await loop.create_server(asyncio.Protocol, sock=listener, ssl=context):
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            await loop.pass_time(HANDSHAKE_SECONDS - 1)
            assert not reader.at_eof()
            await loop.pass_time(2)
            assert await reader.read() == b""
            writer.close()

    run(wait)


def test_answers_do_not_wait_for_acknowledgements() -> None:
    with socket_of("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()) as client:
        accepted, address = listener.accept()
        with accepted:
            assert address == client.getsockname()
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
