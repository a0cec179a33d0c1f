"""HTTP on one connection of the server: what is parsed of what strangers send."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from jobs.farm.guard import protocol
from jobs.farm.guard.connections import Connections, LimitedLog
from jobs.farm.guard.event_turns import Turns
from jobs.farm.guard.protocol import GuardedProtocol, Serving

CHUNKS = b"1\r\nx\r\n" * 20_000
Message = Callable[[dict[str, Any]], Awaitable[None]]


async def refusal(scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Message) -> None:
    """An application that answers 401, and reads no body."""
    await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"no"})


class Counting:
    """Counts the bytes that h11 parses."""

    def __init__(self, conn: Any) -> None:
        self.parsed, self._receive = 0, conn.receive_data
        conn.receive_data = self.receive_data

    def receive_data(self, data: bytes) -> None:
        self.parsed += len(data)
        self._receive(data)


async def connected() -> tuple[asyncio.StreamReader, asyncio.StreamWriter, list[Counting]]:
    """Both directions of a connection to the application, and what counts the bytes that it parses."""
    config = uvicorn.Config(refusal, http="h11", lifespan="off", log_config=None, access_log=False)  # type: ignore[arg-type]
    config.load()
    ours, theirs = socket.socketpair()
    loop, counted = asyncio.get_running_loop(), []

    def connection() -> GuardedProtocol:
        made = GuardedProtocol(
            config=config,
            server_state=ServerState(),
            app_state={},
            connections=Connections(),
            log=LimitedLog(),
            serving=Serving(),
            turns=Turns(),
        )
        counted.append(Counting(made.conn))
        return made

    await loop.connect_accepted_socket(connection, ours)
    reader, writer = await asyncio.open_connection(sock=theirs)
    return reader, writer, counted


async def parsed_of(sent: bytes) -> tuple[bytes, int]:
    """What a client that never stops sending receives, and how many of its bytes were parsed."""
    reader, writer, counted = await connected()

    async def send() -> None:
        with contextlib.suppress(ConnectionError):
            writer.write(sent)
            while True:
                writer.write(CHUNKS)
                await writer.drain()

    sending = asyncio.create_task(send())
    received = b""
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(65_536):
            received += piece
    sending.cancel()
    writer.close()
    return received, counted[0].parsed


def test_a_body_in_chunks_is_not_parsed_once_its_request_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of a byte cost 10 µs a byte; the server went on for a minute after the stranger had left."""
    monkeypatch.setattr(protocol, "UNWANTED_SECONDS", 0.05)
    head = b"POST /campaigns/x/leases HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    received, parsed = asyncio.run(asyncio.wait_for(parsed_of(head), 60))
    assert received.startswith(b"HTTP/1.1 401")
    assert received.endswith(b"no")
    assert parsed <= 4 * protocol.PIECE, parsed


async def answers_of(*sent: bytes) -> bytes:
    """What a client receives that waits for an answer before each part of what it sends but the first."""
    reader, writer, _ = await connected()
    received = b""
    for part in sent:
        writer.write(part)
        received += await reader.readuntil(b"no")
    writer.close()
    return received


@pytest.mark.parametrize("size", [2, 2_000, 60_000])
def test_a_request_after_a_refused_body_in_chunks_is_answered(size: int) -> None:
    """A proxy may send a body in chunks after the answer, and other requests on the same connection."""
    head = b"POST /campaigns/x/leases HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (size, b"x" * size)
    following = b"GET /campaigns/x HTTP/1.1\r\nHost: x\r\n\r\n"
    for sent in ([head, body + following], [head + body, following]):
        received = asyncio.run(asyncio.wait_for(answers_of(*sent), 60))
        assert received.count(b"HTTP/1.1 401") == 2
