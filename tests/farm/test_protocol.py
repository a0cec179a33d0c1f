"""HTTP on one connection of the server: what is parsed of what strangers send, and how long it waits for them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar
from unittest.mock import Mock, patch

import pytest
import uvicorn
from uvicorn.server import ServerState

from jobs.farm.api.clients import PROTECTING
from jobs.farm.api.serving import socket_of
from jobs.farm.guard.bounds import (
    BODY_SECONDS,
    HEADER_SECONDS,
    KEPT_SECONDS,
    MAX_HEADER_LINES,
    MAX_HEADERS,
    PIECE,
    TAKING_SECONDS,
    UNWANTED_SECONDS,
)
from jobs.farm.guard.charges import Charges, Payer
from jobs.farm.guard.door import Door, Guest
from jobs.farm.guard.hearing import Hearing
from jobs.farm.guard.limited_log import LimitedLog
from jobs.farm.guard.protocol import GuardedProtocol, Serving
from jobs.farm.guard.reins import Reins
from jobs.farm.guard.shares import Turns
from jobs.reach.requests import KEPT_SECONDS as CLIENT_KEPT_SECONDS
from jobs.reach.requests import TIMEOUT_SECONDS
from jobs.run.source import RENEWAL_SECONDS

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


async def reading(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """An application that reads the body, and answers 401."""
    while (await receive()).get("more_body"):
        pass
    await refusal(scope, receive, send)


async def words(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """An application that reads the body, and answers without end."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        await send({"type": "http.response.body", "body": bytes(2**20), "more_body": True})
        await asyncio.sleep(0)  # of a connection that is gone nothing is waited for


class MovableLoop(asyncio.SelectorEventLoop):
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


class Connection:
    """A connection to an application, with the server's end of it.

    Attributes:
        reader, writer: the client's end.
        protocol: the server's end.
    """

    def __init__(self, application: Application, turns: Turns | None = None) -> None:
        config = uvicorn.Config(application, http="httptools", lifespan="off", log_config=None, access_log=False)  # type: ignore[arg-type]
        config.load()
        charges = Charges()
        door = Door(Turns(charges), charges, Hearing(), LimitedLog())
        guard: dict[str, Any] = {"guest": Guest(("", 0)), "door": door, "serving": Serving()}
        guard |= {"turns": turns or Turns(Charges()), "headers": PROTECTING}
        self.protocol = GuardedProtocol(config=config, server_state=ServerState(), app_state={}, **guard)

    async def open(self, *sent: bytes) -> Connection:
        ours, theirs = socket.socketpair()
        await asyncio.get_running_loop().connect_accepted_socket(lambda: self.protocol, ours)
        self.reader, self.writer = await asyncio.open_connection(sock=theirs)
        self.writer.writelines(sent)
        return self

    @property
    def is_cut_off(self) -> bool:
        return self.protocol.transport.is_closing()


async def received_of(*sent: bytes, application: Application = refusal) -> bytes:
    """What a client receives until the server closes the connection."""
    connection = await Connection(application).open(*sent)
    received = b""
    with contextlib.suppress(ConnectionError):
        while part := await connection.reader.read(65_536):
            received += part
    connection.writer.close()
    return received


async def endless(sent: bytes, again: bytes, seconds: float, loop: MovableLoop) -> bytes:
    """What a client receives that never stops sending, some time after its answer."""
    connection = await Connection(refusal).open(sent)

    async def send() -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                connection.writer.write(again)
                await connection.writer.drain()

    sending = asyncio.create_task(send())
    received = await connection.reader.readuntil(b"no")
    await loop.pass_time(seconds)
    with contextlib.suppress(ConnectionError):
        received += await connection.reader.read()
    sending.cancel()
    connection.writer.close()
    return received


@pytest.mark.parametrize("again", [CHUNKS, b"2710\r\n" + b"x" * 10_000 + b"\r\n"])
def test_a_body_without_end_is_cut_off_soon_after_its_request_is_refused(again: bytes) -> None:
    """The server went on for a minute after the stranger had left."""
    received = run(lambda loop: endless(IN_CHUNKS, again, UNWANTED_SECONDS + 1, loop))
    assert received.startswith(b"HTTP/1.1 401")
    assert received.endswith(b"no")


def test_what_arrives_is_parsed_piece_by_piece_and_those_who_sent_least_come_first() -> None:
    """A quarter of a megabyte arrives at once, then a request from another address."""

    async def arrive(_: MovableLoop) -> list[str]:
        done, ends, arriving = list[str](), [], []
        turns = Turns(Charges())
        for name, sent in (("much", IN_CHUNKS + 40_000 * b"1\r\nx\r\n"), ("little", GET)):
            connection = Connection(refusal, turns)
            ours, theirs = socket.socketpair()
            await asyncio.get_running_loop().connect_accepted_socket(lambda c=connection: c.protocol, ours)
            connection.protocol.guest.payer = Payer.stranger(name)
            take_turn = connection.protocol._take_turn  # noqa: SLF001

            def turn(take_turn: Callable[[], None] = take_turn, name: str = name) -> None:
                done.append(name)
                take_turn()

            connection.protocol._take_turn = turn  # type: ignore[method-assign]  # noqa: SLF001
            ends.append(theirs)
            arriving.append((theirs, sent))
        for theirs, sent in arriving:
            theirs.setblocking(False)
            assert theirs.send(sent) > min(4 * PIECE, len(sent) - 1)
        while done.count("much") < 3:
            await asyncio.sleep(0)
        for end in ends:
            end.close()
        return done

    done = run(arrive)
    assert done.index("little") <= 1, done


GET = b"GET /campaigns/x HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        [GET[:-2] + b"X: ", *[b"x" * 10_000] * 4],
        [b"GET /", *[b"x" * 10_000] * 4],
        [GET[:-2] + b"X: " + b"x" * (MAX_HEADERS + 1) + b"\r\n\r\n"],
        [GET[:-2] + b"a:\r\n" * (MAX_HEADER_LINES + 1) + b"\r\n"],
        [GET[:-2], *[b"a:\r\n" * 60] * 2],
        [IN_CHUNKS + b"0\r\n" + b"a:\r\n" * (MAX_HEADER_LINES + 2)],
    ],
)
def test_headers_without_end_are_refused(sent: list[bytes]) -> None:
    received = run(lambda _: received_of(*sent, application=reading))
    assert received.startswith(b"HTTP/1.1 400")
    assert b"at most 16384 bytes in at most 100 lines" in received
    assert received.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    "sent", [b"no request\r\n\r\n", GET[:-2] + b"X: " + b"x" * (MAX_HEADERS + 1) + b"\r\n\r\n"]
)
def test_what_is_no_request_is_answered_with_the_headers_of_all_answers(sent: bytes) -> None:
    head, _, body = run(lambda _: received_of(sent)).partition(b"\r\n\r\n")
    status, *headers = head.split(b"\r\n")
    assert status == b"HTTP/1.1 400 Bad Request"
    assert {name + b": " + value for name, value in PROTECTING} <= set(headers)
    assert b"content-length: %d" % len(body) in headers


@pytest.mark.parametrize(
    "sent",
    [
        POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\n{}{}",
        POST + b"Content-Length: +4\r\n\r\n{}{}",
        POST + b"Content-Length: 4, 4\r\n\r\n{}{}",
        POST + b"Content-Length : 4\r\n\r\n{}{}",
        POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n{}\r\n0\r\n\r\n",
        POST[:-2] + b"\nX: y\rZ: z\r\nContent-Length: 0\r\n\r\n",
        b"GET /campaigns/x HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\0\1\2\r\n\r\n",
    ],
)
def test_a_request_that_two_servers_could_read_differently_is_refused(sent: bytes) -> None:
    """None of what follows is taken for another request."""
    received = run(lambda _: received_of(sent + GET, application=reading))
    assert received.count(b"HTTP/1.1 400") == 1
    assert received.count(b"HTTP/1.1") == 1


def test_what_follows_a_body_in_chunks_changes_no_request() -> None:
    seen = []

    async def note(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        seen.append(list(scope["headers"]))
        await refusal(scope, receive, send)

    body = b"2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n"
    run(lambda _: answers_of(IN_CHUNKS + body, application=note))
    assert [[name for name, _ in headers] for headers in seen] == [[b"host", b"transfer-encoding"]]


async def answers_of(*sent: bytes, application: Application = refusal) -> bytes:
    """What a client receives that waits for an answer before each part of what it sends but the first."""
    connection = await Connection(application).open()
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
        (b"GET /", b"x", HEADER_SECONDS),
        (b"\r\n", b"\r\n", HEADER_SECONDS),
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


def test_what_has_arrived_and_waits_for_its_turn_is_not_late() -> None:
    async def wait(loop: MovableLoop) -> None:
        turns, held = Turns(Charges()), list[Callable[[], object]]()
        with patch.object(turns, "enqueue", lambda payer, action: held.append(action)):
            connection = await Connection(refusal, turns).open(GET)
            await loop.pass_time(HEADER_SECONDS + 1)
            assert not connection.is_cut_off
            held.pop()()
        assert (await connection.reader.readuntil(b"no")).startswith(b"HTTP/1.1 401")
        await loop.pass_time(HEADER_SECONDS + 1)
        assert connection.is_cut_off
        connection.writer.close()

    run(wait)


def test_a_large_answer_is_written_in_pieces() -> None:
    """TLS would keep for each connection the memory of its largest one: 150 KB of a status, for 10,000 workers."""

    async def answer(loop: MovableLoop) -> list[bytes]:
        written = list[bytes]()
        reins = Reins(Mock(), Mock(write=written.append))
        for part in (b"head", bytes(150_000), b"head", b"body"):
            reins.write(part)
        await loop.settle()
        return written

    pieces = run(answer)
    assert b"".join(pieces) == b"head" + bytes(150_000) + b"headbody"
    assert max(map(len, pieces)) <= PIECE
    assert pieces[-1] == b"headbody"


def test_a_body_is_read_and_its_time_begins_when_the_application_asks_for_it() -> None:
    async def wait(loop: MovableLoop) -> None:
        turn = asyncio.Event()

        async def waiting(scope: dict[str, Any], receive: Receive, send: Send) -> None:
            await turn.wait()
            await reading(scope, receive, send)

        connection = await Connection(waiting).open(POST + b"Content-Length: 1000000\r\n\r\n")
        await loop.pass_time(HEADER_SECONDS)
        connection.writer.write(bytes(900_000))
        await loop.pass_time(2 * BODY_SECONDS)
        assert not connection.is_cut_off
        assert len(connection.protocol.cycle.body) == 0
        turn.set()
        await loop.pass_time(BODY_SECONDS - 1)
        assert not connection.is_cut_off
        await loop.pass_time(2)
        assert connection.is_cut_off
        connection.writer.close()

    run(wait)


@pytest.mark.parametrize(
    ("payer", "begun", "seconds"),
    [
        (Payer("token"), b"", KEPT_SECONDS),
        (Payer("token"), b"GET /", HEADER_SECONDS),
        (Payer.stranger("x"), b"", HEADER_SECONDS),
    ],
)
def test_how_long_a_connection_is_kept_for_the_next_request(payer: Payer, begun: bytes, seconds: float) -> None:
    """That of a worker until its renewal after the next one, as long as nothing else has begun on it."""

    async def wait(loop: MovableLoop) -> None:
        connection = Connection(refusal)
        await connection.open()
        connection.protocol.guest.payer = payer
        connection.writer.write(GET)
        assert (await connection.reader.readuntil(b"no")).startswith(b"HTTP/1.1 401")
        connection.writer.write(begun)
        await loop.pass_time(seconds - 1)
        assert not connection.is_cut_off
        await loop.pass_time(2)
        assert connection.is_cut_off
        connection.writer.close()

    run(wait)


def test_a_worker_keeps_its_connection_longer_than_two_renewals_and_not_as_long_as_the_server() -> None:
    assert 2 * RENEWAL_SECONDS + TIMEOUT_SECONDS < CLIENT_KEPT_SECONDS < KEPT_SECONDS - TIMEOUT_SECONDS


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


def test_answers_do_not_wait_for_acknowledgements() -> None:
    with socket_of("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()) as client:
        accepted, address = listener.accept()
        with accepted:
            assert address == client.getsockname()
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
