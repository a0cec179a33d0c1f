"""Bounds on the bodies of requests: their size, and how much there is to parse in them.

All other threads wait while JSON is parsed, so a body is measured before: a list of a million empty lists has few
bytes, and its parsing may take a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import Request

from db.messages import BadMessage, decoded
from langford.errors import LangfordError

M = TypeVar("M")


class BodyTooLarge(LangfordError):
    """The body of a request is too large."""


@dataclass(frozen=True)
class Bounds:
    """How large the body of one kind of request may be, and how much there may be to parse in it."""

    size: int
    nested: int  # number of opening brackets and braces, including those within texts
    values: int  # number of commas, including those within texts

    def require(self, request: Request) -> int:
        """How many bytes the body has at most, by its head; raises BodyTooLarge."""
        said = request.headers.get("content-length", "")
        size = int(said[:20]) if said.isascii() and said.isdecimal() else self.size
        if size > self.size:
            raise self._too_large
        return size

    async def read(self, request: Request) -> bytes:
        """Raises BodyTooLarge."""
        chunks, size = [], 0  # put together once: a large body that grows is copied again and again
        async for chunk in request.stream():
            chunks.append(chunk)
            size += len(chunk)
            if size > self.size:
                raise self._too_large
        return b"".join(chunks)

    def parse(self, body: bytes, kind: type[M]) -> M:
        """Raises BadMessage."""
        # Brackets within texts count, too: telling them apart would take as long as parsing the body.
        if body.count(b"[") + body.count(b"{") > self.nested:
            raise BadMessage(f"a request may have at most {self.nested:,} lists and objects: send less at a time")
        if body.count(b",") > self.values:
            raise BadMessage(f"a request may have at most {self.values:,} values: send less at a time")
        return decoded(body, kind)

    @property
    def _too_large(self) -> BodyTooLarge:
        return BodyTooLarge(f"a request may have at most {self.size:,} bytes: send less at a time")


KIB = 1024
MESSAGE = Bounds(64 * KIB, 64 * KIB, 64 * KIB)
"""A worker's identity, or the end of one attempt, whatever texts it contains."""
ATTEMPTS = Bounds(512 * KIB, 16 * KIB, 64 * KIB)
"""Up to wire.MAX_AT_ONCE attempts."""
HELD = Bounds(4 * KIB * KIB, 64, 128 * KIB)
"""The numbers of up to wire.MAX_HELD attempts."""
RESULTS = Bounds(4 * KIB * KIB, 32 * KIB, 256 * KIB)
"""Up to wire.MAX_AT_ONCE results with their provenance."""
