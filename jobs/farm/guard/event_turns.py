"""Turns: what strangers and readers send is handled one at a time, and what workers send at once.

A round of the event loop that handled all that has arrived would let a worker wait for hundreds of others, at each
step of its request.  Used on the event loop of the server only.
"""

from __future__ import annotations

import asyncio
from typing import Protocol


class Waiting(Protocol):
    """Something that waits for its turn."""

    def take_turn(self) -> bool:
        """Returns whether there is more to do."""
        ...


class Turns:
    """Those who wait for their turn: in each round of the event loop the one that has waited longest."""

    def __init__(self) -> None:
        self._waiting: dict[Waiting, None] = {}
        self._scheduled = False

    def line_up(self, one: Waiting) -> None:
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
