"""The bodies of requests: how large they may be, and how much there may be to parse in them.

Reading JSON keeps all other threads waiting, so a body is measured before it is parsed: a list of a million empty
lists has few bytes, and takes a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import Request

from db.files.messages import BadMessage, decoded
from langford.errors import LangfordError

M = TypeVar("M")


class BodyTooLarge(LangfordError):
    """The body of a request is too large."""


@dataclass(frozen=True)
class Bounds:
    """What the body of a request may have.

    Attributes:
        size: bytes.
        nested: opening brackets and braces, those in texts among them.
        values: commas, those in texts among them.
    """

    size: int
    nested: int
    values: int

    async def read(self, request: Request) -> bytes:
        """The body of a request; raises BodyTooLarge."""
        said = request.headers.get("content-length", "")
        if said.isascii() and said.isdecimal() and int(said[:20]) > self.size:
            raise self._too_large
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > self.size:
                raise self._too_large
        return bytes(body)

    def parse(self, body: bytes, kind: type[M]) -> M:
        """The message of this kind in a body; raises BadMessage."""
        # Brackets in texts count too: to tell them apart would take as long as to parse the body.
        if body.count(b"[") + body.count(b"{") > self.nested:
            raise BadMessage(f"this request may have {self.nested:,} lists and objects: send less at a time")
        if body.count(b",") > self.values:
            raise BadMessage(f"this request may have {self.values:,} values: send less at a time")
        return decoded(body, kind)

    @property
    def _too_large(self) -> BodyTooLarge:
        return BodyTooLarge(f"this request may have {self.size:,} bytes: send less at a time")


KIB = 1024
MESSAGE = Bounds(64 * KIB, 64 * KIB, 64 * KIB)
"""A worker's identity, or what it says of one attempt, whatever the texts in it."""
ATTEMPTS = Bounds(512 * KIB, 16 * KIB, 64 * KIB)
"""Up to wire.MOST_AT_ONCE attempts."""
HELD = Bounds(4 * KIB * KIB, 64, 128 * KIB)
"""The numbers of up to wire.MOST_HELD attempts."""
RESULTS = Bounds(4 * KIB * KIB, 32 * KIB, 256 * KIB)
"""Up to wire.MOST_AT_ONCE results with their provenance."""
