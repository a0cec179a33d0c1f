"""The transport of a connection, as its protocol sees it."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from jobs.farm.guard.bounds import PIECE


class Reader(Protocol):
    """What reads a connection."""

    def go_on(self) -> None: ...


class Reins:
    """The transport of a connection, as uvicorn sees it: nothing is read while what has arrived waits for its turn.

    Attributes:
        wanted: whether uvicorn takes more.
    """

    def __init__(self, reader: Reader, transport: asyncio.Transport) -> None:
        self._reader, self._transport, self.wanted = reader, transport, True
        self._held = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send two parts that are written at once, as those of an answer are, together: one packet, one record."""
        if self._held:
            data, self._held = self._held + data, b""
            # TLS keeps for a connection as much memory as its largest write had.
            for start in range(0, len(data), PIECE):
                self._transport.write(data[start : start + PIECE])
        else:
            self._held = data
            asyncio.get_running_loop().call_soon(self.flush)

    def flush(self) -> None:
        held, self._held = self._held, b""
        if held:
            self._transport.write(held)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def pause_reading(self) -> None:
        self.wanted = False
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self.wanted = True
        self._reader.go_on()

    def hold(self) -> None:
        self._transport.pause_reading()

    def let_go(self) -> None:
        if self.wanted and not self._transport.is_closing():
            self._transport.resume_reading()
