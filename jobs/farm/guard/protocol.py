"""HTTP on one connection: how long its other end may take, and how much it may send at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

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
from jobs.farm.guard.charges import Payer
from jobs.farm.guard.door import Door, Guest
from jobs.farm.guard.reins import Reins
from jobs.farm.guard.shares import Turns
from langford.errors import LangfordError

LARGE = f"Too large headers: at most {MAX_HEADERS} bytes in at most {MAX_HEADER_LINES} lines."
_PIECE = memoryview(bytearray(PIECE))
"""Where all connections are read into: what arrives is taken out at once."""


@dataclass(frozen=True)
class Serving:
    """The certificate of a server, and how long its connections may take."""

    certificate: str | None = None  # file with a TLS certificate chain; None: without TLS
    key: str | None = None
    # Time for the headers of a request, from the start of a connection on
    header_seconds: float = HEADER_SECONDS
    body_seconds: float = BODY_SECONDS  # time for the body of a request
    # Time for the other end to take what waits for it; a computer that was closed takes nothing
    taking_seconds: float = TAKING_SECONDS


class Part(Enum):
    """What arrives next."""

    HEADERS = "the headers of a request"
    NEXT = "another request of somebody with a token"
    BODY = "a body"
    UNWANTED = "the rest of a body whose request is answered"


class TooMuch(LangfordError):
    """A request has more headers than it may."""


class GuardedProtocol(HttpToolsProtocol, asyncio.BufferedProtocol):
    """HTTP on one connection, read and parsed piece by piece at the turns of its payer.

    It uses the callbacks of asyncio and httptools, and of uvicorn when an answer is complete.

    Attributes:
        guest: whose connection it is.
    """

    def __init__(
        self,
        *arguments: Any,
        guest: Guest,
        door: Door,
        serving: Serving,
        turns: Turns,
        headers: Sequence[tuple[bytes, bytes]] = (),
        **options: Any,
    ) -> None:
        """``headers``: of an answer to what is no request."""
        super().__init__(*arguments, **options)
        self.timeout_keep_alive = KEPT_SECONDS  # type: ignore[assignment]  # uvicorn's; a stranger has less time
        self.guest, self._door, self._serving, self._turns = guest, door, serving, turns
        self._seconds = {
            Part.HEADERS: serving.header_seconds,
            Part.NEXT: KEPT_SECONDS,
            Part.BODY: serving.body_seconds,
            Part.UNWANTED: UNWANTED_SECONDS,
        }
        self._headers, self._arrived, self._enqueued, self._begun = headers, b"", False, False
        # Of the headers that arrive: their bytes and lines that are parsed, and all bytes since they began.
        self._part, self._size, self._lines, self._unended = Part.HEADERS, 0, 0, 0
        self._awaited: Part | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None

    @property
    def payer(self) -> Payer:
        """Who is charged for what arrives."""
        return self.guest.payer

    @property
    def busy(self) -> bool:
        return self._is_answering and not self.cycle.more_body

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def abort(self) -> None:
        self.transport.abort()

    def shutdown(self) -> None:
        """Of a server that ends: answer what has arrived, and wait for nothing more."""
        if self.busy:
            super().shutdown()
        else:
            self.abort()

    # -- asyncio ----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        self._reins = Reins(self, transport)
        super().connection_made(self._reins)  # type: ignore[arg-type]  # it has what uvicorn uses
        self.guest.inside = self
        self._wait()

    def get_buffer(self, sizehint: int) -> memoryview:
        """A protocol with a buffer is given no more at a time; others get up to 256 KiB from each connection."""
        return _PIECE

    def buffer_updated(self, nbytes: int) -> None:
        self._arrived += _PIECE[:nbytes]
        self.enqueue()
        if self._arrived:
            self._reins.hold()

    def go_on(self) -> None:
        """Read what an application asks for that has waited until it had a use for it."""
        self.enqueue()
        self._wait()

    def enqueue(self) -> None:
        """Have what has arrived parsed; if that is all, read on.

        Not while uvicorn takes nothing; what follows a whole request waits until that is answered.
        """
        if not self._arrived:
            self._reins.let_go()
        elif self._reins.wanted and not self._enqueued and not (self._part is Part.HEADERS and self._is_answering):
            self._enqueued = True
            self._turns.enqueue(self.payer, self._take_turn)

    def pause_writing(self) -> None:
        """The client reads too slowly: close the connection unless it catches up."""
        super().pause_writing()
        self._taking = self.loop.call_later(self._serving.taking_seconds, self.abort)

    def resume_writing(self) -> None:
        self._stop_taking()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived = b""
        self._stop_waiting()
        self._stop_taking()
        self._door.leave(self.guest)
        super().connection_lost(exc)

    # -- parsing ----------------------------------------------------------------------------------

    def _take_turn(self) -> None:
        self._enqueued = False
        if self.transport.is_closing():
            self._arrived = b""
            return
        piece, self._arrived, before = self._arrived, b"", self._part
        self._unended += len(piece)
        super().data_received(piece)
        if before is Part.HEADERS and self._part is Part.BODY and self._is_answering:
            self.flow.pause_reading()  # until the application asks for the body
        if self._part is Part.HEADERS and self._unended > MAX_HEADERS:
            self.send_400_response(LARGE)
        self._wait()
        self.enqueue()

    def on_message_begin(self) -> None:
        self._begin(Part.HEADERS)
        self._begun = True
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._lines += 1
        self._count(len(name) + len(value))
        if self._part is Part.HEADERS:  # what follows a body in chunks would change a request that is answered
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._begin(Part.BODY)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._begin(Part.HEADERS)
        self._begun = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._reins.flush()
        super().on_response_complete()
        self._wait()
        self.enqueue()

    def send_400_response(self, msg: str) -> None:
        """As uvicorn, but with the headers of all answers."""
        if self.transport.is_closing():  # it was refused for a better reason
            return
        given = *self.server_state.default_headers, *self._headers
        lines = [b"HTTP/1.1 400 Bad Request", *(b"%b: %b" % header for header in given)]
        lines += [
            b"content-type: text/plain; charset=utf-8",
            b"content-length: %d" % len(msg),
            b"connection: close",
        ]
        self.transport.write(b"\r\n".join([*lines, b"", msg.encode("ascii")]))
        self.transport.close()

    def _begin(self, part: Part) -> None:
        self._part, self._size, self._lines, self._unended = part, 0, 0, 0

    def _count(self, size: int) -> None:
        """Raises TooMuch."""
        self._size += size
        if self._lines > MAX_HEADER_LINES or self._size > MAX_HEADERS:
            self.send_400_response(LARGE)
            raise TooMuch

    # -- time -------------------------------------------------------------------------------------

    def _wait(self) -> None:
        """Start the time of what shall arrive next, unless it runs."""
        awaited: Part | None = self._part
        if self._is_answering and (self._part is Part.HEADERS or not self._reins.wanted):
            awaited = None
        elif self._part is Part.BODY and not self._is_answering:
            awaited = Part.UNWANTED
        elif self._part is Part.HEADERS and not (self._begun or self.payer.is_stranger):
            awaited = Part.NEXT
        if awaited is self._awaited:
            return
        self._stop_waiting()
        if awaited is not None and not self.transport.is_closing():
            self._awaited = awaited
            self._begin_time(self._seconds[awaited])

    def _begin_time(self, seconds: float) -> None:
        self._timer = self.loop.call_later(seconds, self._end_time, seconds)

    def _end_time(self, seconds: float) -> None:
        """Close the connection, unless it is the server that has had no turn for what arrived."""
        if self._enqueued:
            self._begin_time(seconds)
        else:
            self.abort()

    def _stop_waiting(self) -> None:
        self._awaited = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_taking(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None
