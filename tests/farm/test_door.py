"""Who comes in by the server's door, who waits, and who gives way: on a real socket, with a clock that is moved."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import Callable, Coroutine

import pytest
import trustme

from jobs.farm.guard.bounds import HEADER_SECONDS, NEWCOMER_SECONDS
from jobs.farm.guard.charges import Charges, Payer
from jobs.farm.guard.door import Door, Guest
from jobs.farm.guard.hearing import Hearing
from jobs.farm.guard.limited_log import LimitedLog
from jobs.farm.guard.shares import Turns
from tests.farm.test_protocol import MovableLoop, run

SITE, LIAR = (Payer(name, name=f"token {number}, a worker's") for number, name in enumerate(["site", "liar"], 1))


class Received(asyncio.Protocol):
    """What a guest of a test is once it is in."""

    def __init__(self, door: Door, guest: Guest) -> None:
        self.door, self.guest, self.busy = door, guest, False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.guest.inside, self._transport = self, transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.door.leave(self.guest)

    def abort(self) -> None:
        self._transport.close()


class Entrance:
    """A door that is open, and those who came in.

    Attributes:
        inside: by their own end.
    """

    def __init__(
        self, loop: MovableLoop, tls: ssl.SSLContext | None = None, most: int = 1_000, **limits: int
    ) -> None:
        charges = Charges()
        self.door, self.loop = Door(Turns(charges), charges, Hearing(), LimitedLog(), **limits), loop
        self.door.most, self._listener = most, socket.create_server(("127.0.0.1", 0))
        self.inside: dict[tuple[str, int], Received] = {}
        self.door.open(self._listener, self._receive, tls)

    def _receive(self, guest: Guest) -> Received:
        self.inside[guest.client] = Received(self.door, guest)
        return self.inside[guest.client]

    async def come(self, *speak: bytes, host: str = "127.0.0.1") -> socket.socket:
        """Connect from an address, and say something."""
        end = socket.socket()
        end.bind((host, 0))
        end.connect(self._listener.getsockname())
        for word in speak:
            end.sendall(word)
        await self.settle()
        return end

    async def settle(self) -> None:
        for _ in range(5):
            await self.loop.settle()

    def show(self, end: socket.socket, payer: Payer) -> None:
        self.door.show(end.getsockname(), payer)

    def are_in(self, *ends: socket.socket) -> list[bool]:
        return [end.getsockname() in self.inside for end in ends]


def is_open(end: socket.socket) -> bool:
    end.setblocking(False)
    try:
        return end.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


def test(act: Callable[[Entrance], Coroutine[None, None, None]], **options: int) -> None:
    """Act at a door."""

    async def open_and_act(loop: MovableLoop) -> None:
        entrance = Entrance(loop, **options)  # type: ignore[arg-type]
        try:
            await act(entrance)
        finally:
            entrance.door.close()

    run(open_and_act)


test.__test__ = False  # type: ignore[attr-defined]


def test_the_newest_stranger_waits_until_an_older_one_shows_a_token_or_leaves() -> None:
    async def act(entrance: Entrance) -> None:
        ends = [await entrance.come(b"x") for _ in range(5)]
        assert entrance.are_in(*ends) == [True, True, False, False, False]
        entrance.show(ends[1], SITE)
        await entrance.settle()
        assert entrance.are_in(*ends) == [True, True, True, False, False]
        ends[0].close()
        await entrance.settle()
        assert entrance.are_in(*ends[1:]) == [True, True, True, False]
        assert all(map(is_open, ends[1:]))

    test(act, strangers=2)


def test_who_has_left_is_not_let_in() -> None:
    """As after the time that it has for a connection: the next one's handshake goes before one for nothing."""

    async def act(entrance: Entrance) -> None:
        first, gone, next_one = [await entrance.come(b"x") for _ in range(3)]
        where = gone.getsockname()
        gone.close()
        entrance.show(first, SITE)
        await entrance.settle()
        assert entrance.are_in(first, next_one) == [True, True]
        assert where not in entrance.inside

    test(act, strangers=1)


def test_who_will_give_up_soon_goes_after_those_who_will_not() -> None:
    async def act(entrance: Entrance) -> None:
        first, late = [await entrance.come(b"x") for _ in range(2)]
        await entrance.loop.pass_time(NEWCOMER_SECONDS + 1)
        fresh, fresher = [await entrance.come(b"x") for _ in range(2)]
        entrance.show(first, SITE)
        await entrance.settle()
        assert entrance.are_in(late, fresh, fresher) == [False, True, False]
        entrance.show(fresh, SITE)
        await entrance.settle()
        entrance.show(fresher, SITE)
        await entrance.settle()
        assert entrance.are_in(late, fresh, fresher) == [True, True, True]

    test(act, strangers=1)


def test_addresses_take_turns() -> None:
    """Many of one address wait; the first one of another is next, and one address has no more than its part in."""

    async def act(entrance: Entrance) -> None:
        many = [await entrance.come(b"x") for _ in range(6)]
        other = [await entrance.come(b"x", host="127.0.0.2") for _ in range(3)]
        assert entrance.are_in(*many, *other) == [True, True, *4 * [False], True, False, False]
        entrance.show(many[0], SITE)
        await entrance.settle()
        entrance.show(many[1], SITE)
        await entrance.settle()
        assert entrance.are_in(*many, *other) == [True, True, True, *3 * [False], True, True, False]

    test(act, strangers=3, of_an_address=2)


def test_who_says_nothing_takes_no_place_and_is_sent_away() -> None:
    async def act(entrance: Entrance) -> None:
        silent = [await entrance.come() for _ in range(3)]
        speaking = await entrance.come(b"x")
        assert entrance.are_in(*silent, speaking) == [False, False, False, True]
        await entrance.loop.pass_time(HEADER_SECONDS + 1)
        assert [is_open(end) for end in (*silent, speaking)] == [False, False, False, True]

    test(act, strangers=1)


def test_of_all_connections_the_holder_of_the_most_gives_one_up(caplog: pytest.LogCaptureFixture) -> None:
    """An attacker with a token takes none away from a site that holds fewer, nor the place of a newcomer."""

    async def act(entrance: Entrance) -> None:
        honest = [await entrance.come(b"x") for _ in range(2)]
        for end in honest:
            entrance.show(end, SITE)
        held = [await entrance.come(b"x") for _ in range(4)]
        for end in held:
            entrance.show(end, LIAR)
        entrance.inside[held[0].getsockname()].busy = True
        entrance.show(held[1], LIAR)  # it was used again
        newcomers = [await entrance.come(b"x") for _ in range(2)]
        assert [is_open(end) for end in held] == [True, True, False, False]
        assert all(map(is_open, honest + newcomers))
        assert entrance.are_in(*newcomers) == [True, True]

    with caplog.at_level(logging.WARNING):
        test(act, most=6)
    assert caplog.records[0].getMessage() == (
        "token 2, a worker's: it has 4 connections, the most of the 6 that this server may have (see ulimit -n): "
        "its one that was not used for longest is closed"
    )


def test_a_token_has_a_bound_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    async def act(entrance: Entrance) -> None:
        ends = [await entrance.come(b"x") for _ in range(4)]
        for end in ends:
            entrance.show(end, SITE)
        await entrance.settle()
        assert [is_open(end) for end in ends] == [False, True, True, True]

    with caplog.at_level(logging.WARNING):
        test(act, of_a_token=3)
    assert "token 1, a worker's: it has 4 connections, more than the 3" in caplog.text


def test_strangers_at_one_address_lose_the_newest_when_all_connections_are_taken() -> None:
    async def act(entrance: Entrance) -> None:
        ends = [await entrance.come() for _ in range(5)]
        other = await entrance.come(b"x", host="127.0.0.2")
        assert [is_open(end) for end in ends] == [True, True, True, False, False]
        assert entrance.are_in(other) == [True]

    test(act, most=4)


def test_handshakes_have_their_time_and_the_next_one_a_place() -> None:
    """One that speaks no TLS, one that never ends its handshake, and one that is well-behaved."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async def act(loop: MovableLoop) -> None:
        entrance = Entrance(loop, context, strangers=1)
        wrong = await entrance.come(b"GET / HTTP/1.1\r\n\r\n")
        while is_open(wrong):
            await asyncio.sleep(0)
        half = await entrance.come(b"\x16\x03\x01")
        end = await entrance.come()
        honest = asyncio.create_task(asyncio.open_connection(sock=end, ssl=trusting, server_hostname="localhost"))
        await entrance.settle()
        assert not honest.done()
        await loop.pass_time(HEADER_SECONDS + 1)
        _, writer = await honest
        assert not is_open(half)
        with contextlib.suppress(ConnectionError):
            writer.close()
        entrance.door.close()

    run(act)
