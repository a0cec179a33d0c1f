"""HTTP on one connection, with limits on what strangers can hold: time, lines of a request, turns of the loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from jobs.farm.guard.connections import Connections, LimitedLog, network_of


class Turns:
    """The connections that wait for their turn: in each round of the event loop the one that has waited longest.

    What strangers and readers send waits, and what workers send does not: a round that handled all that has arrived
    would let a worker wait for hundreds of others, at each step of its request.  Used on the event loop only.
    """

    def __init__(self) -> None:
        self._waiting: dict[GuardedProtocol, None] = {}
        self._scheduled = False

    def line_up(self, one: GuardedProtocol) -> None:
        self._waiting.setdefault(one)
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        self._scheduled = False
        one = next(iter(self._waiting))
        del self._waiting[one]
        if one.take_turn():
            self._waiting[one] = None
        if self._waiting:
            self.line_up(next(iter(self._waiting)))


HEADER_SECONDS, BODY_SECONDS, TAKING_SECONDS = 10.0, 60.0, 30.0
MAX_UNWANTED_LINES, UNWANTED_SECONDS = 100, 2.0
"""How many lines of a body in chunks are parsed once its request is answered, and how long more of them may arrive,
so that the answer is received."""
MAX_HEADERS, MAX_HEADER_LINES = 16 * 1024, 100
PIECE, PIECE_IN_CHUNKS, PIECE_OF_A_BODY = 512, 96, 16 * 1024
"""Bytes that a connection hands in at its turn: of headers, of a body in chunks, which may have a byte each, and of
a body of known length."""
UNWANTED = "unwanted"


@dataclass(frozen=True)
class Serving:
    certificate: str | None = None  # file with a TLS certificate chain; None: without TLS
    key: str | None = None
    # Time for the headers of a request, from the start of a connection on
    header_seconds: float = HEADER_SECONDS
    body_seconds: float = BODY_SECONDS  # time for the body of a request
    # Time for the other end to take what waits for it; a computer that was closed takes nothing
    taking_seconds: float = TAKING_SECONDS


class HeldFlow(FlowControl):
    """The flow of a connection, from which nothing is read while what has arrived waits for its turn."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(transport)
        self._held = False

    def hold(self, held: bool) -> None:
        """Read nothing, or continue unless something else is against it."""
        self._held = held
        if held:
            self._transport.pause_reading()
        elif not self.read_paused:
            self._transport.resume_reading()

    def resume_reading(self) -> None:
        if self._held:
            self.read_paused = False
        else:
            super().resume_reading()


class GuardedProtocol(H11Protocol):
    """HTTP on one connection, which ends when a request takes too long to arrive.

    What a worker sends is handled at once, what others send at their turn.
    """

    address = ""

    def __init__(
        self,
        *arguments: Any,
        connections: Connections,
        log: LimitedLog,
        serving: Serving,
        turns: Turns,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._guard, self._log, self._serving, self._turns = connections, log, serving, turns
        self._timer: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None
        self._awaited: object = None
        # What has arrived and waits for its turn, and whether h11 has events that do.
        self._arrived, self._sent_ahead, self._is_turn = bytearray(), False, False
        self._lines, self._unwanted_lines = 0, 0

    @property
    def busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    def abort(self) -> None:
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self.flow = self._held = HeldFlow(transport)
        self.address = network_of(self.client[0] if self.client else "")
        if self._guard.opened(self, self.client):
            self._log.say(self.address, "too many connections without a token: the oldest is closed")
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._goes_first and not self._arrived:
            super().data_received(data)
            self._wait()
        else:
            self._arrived += data
            self._held.hold(True)
            self._turns.line_up(self)

    def handle_events(self) -> None:
        """Handle what h11 has read; after an answer that is what the other end has sent ahead."""
        if self._is_turn or (self._goes_first and not self._arrived):
            super().handle_events()
        elif self._arrived or self.conn.trailing_data[0]:
            self._sent_ahead = True
            self._turns.line_up(self)

    def take_turn(self) -> bool:
        """Handle a little of what has arrived; returns whether there is more that can be handled now."""
        if self.transport.is_closing():
            self._arrived.clear()
            return False
        self._is_turn = True
        try:
            if self._sent_ahead:
                self._sent_ahead = False
                super().handle_events()
            elif self._is_unwanted:
                self._arrived.clear()
            elif self._arrived and not self._is_answering:
                self._hand_in()
        finally:
            self._is_turn = False
        self._wait()
        self._held.hold(bool(self._arrived))
        return self._sent_ahead or (bool(self._arrived) and not self._is_answering)

    @property
    def _goes_first(self) -> bool:
        return self.client is not None and self._guard.goes_first(self.client)

    @property
    def _is_answering(self) -> bool:
        """What follows a whole request waits until it is answered."""
        return self.conn.their_state is h11.DONE and not self.cycle.response_complete

    @property
    def _is_unwanted(self) -> bool:
        """Whether what arrives is the rest of a body in too many chunks whose request is answered.

        It is discarded unread, and the connection with it: to find the end of chunks of a byte takes 10 µs a byte.
        The rest of a body in a few chunks is parsed, so that the connection's next request is answered.
        """
        return self.conn.their_state is h11.SEND_BODY and self._unwanted_lines > MAX_UNWANTED_LINES

    @property
    def _length_known(self) -> bool:
        return any(name == b"content-length" for name, _ in self.headers)

    def _hand_in(self) -> None:
        in_body = self.conn.their_state is h11.SEND_BODY
        size = PIECE if not in_body else PIECE_OF_A_BODY if self._length_known else PIECE_IN_CHUNKS
        piece = bytes(self._arrived[:size])
        del self._arrived[:size]
        lines = piece.count(b"\n")
        self._lines = 0 if in_body else self._lines + lines
        is_rest = in_body and self.cycle.response_complete and not self._length_known
        self._unwanted_lines = self._unwanted_lines + lines if is_rest else 0
        super().data_received(piece)
        if self.conn.their_state is not h11.IDLE:
            self._lines = 0
        elif self._lines > MAX_HEADER_LINES and not self.transport.is_closing():
            self.send_400_response(f"Too many header lines: at most {MAX_HEADER_LINES}.")

    def pause_writing(self) -> None:
        """The other end takes less than it gets: it has some time to take more."""
        super().pause_writing()
        self._taking = self.loop.call_later(self._serving.taking_seconds, self.abort)

    def resume_writing(self) -> None:
        self._stop_taking()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_taking()
        self._guard.closed(self, self.client)
        super().connection_lost(exc)

    def _wait(self) -> None:
        """Start the time of what shall arrive next, unless it runs: headers, a body, or what is left of one."""
        awaited: object = UNWANTED if self._is_unwanted else self.conn.their_state
        if awaited is self._awaited:
            return
        self._stop_waiting()
        seconds = {
            h11.IDLE: self._serving.header_seconds,
            h11.SEND_BODY: self._serving.body_seconds,
            UNWANTED: UNWANTED_SECONDS,
        }
        if awaited in seconds and not self.transport.is_closing():
            self._awaited = awaited
            self._timer = self.loop.call_later(seconds[awaited], self.abort)

    def _stop_waiting(self) -> None:
        self._awaited = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_taking(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None
