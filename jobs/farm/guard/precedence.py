"""Who goes first at the task server: workers, then readers, then strangers.

Each of them has threads of its own, and an allowance of requests of its own, so that what one of them asks for
holds up none before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import IntEnum
from functools import partial
from typing import TypeVar

import anyio.to_thread
from anyio import CapacityLimiter

from db.states import Role
from db.work import tokens

MOST_BEARERS = 10_000
T = TypeVar("T")


class Precedence(IntEnum):
    """Who sends a request; the larger goes first."""

    STRANGER = 0
    READER = 1
    WORKER = 2


THREADS = {Precedence.STRANGER: 2, Precedence.READER: 4, Precedence.WORKER: 40}
"""Requests that are with the ledger at the same time."""


class Threads:
    """The threads in which requests wait for the ledger: a few for strangers and readers, the most for workers."""

    def __init__(self) -> None:
        self._limits = {who: CapacityLimiter(most) for who, most in THREADS.items()}

    async def call(self, who: Precedence, function: Callable[..., T], *arguments: object) -> T:
        """Call a function in a thread, when it is the turn of its sender."""
        return await anyio.to_thread.run_sync(partial(function, *arguments), limiter=self._limits[who])


class Bearers:
    """Tokens that were right when they were last looked up; used on the event loop only.

    They say who goes first and no more: each request looks its tokens up, so that a token which is revoked opens
    nothing from then on.
    """

    def __init__(self, most: int = MOST_BEARERS) -> None:
        """``most``: how many tokens are remembered; those shown longest ago are forgotten."""
        self._most = most
        # By the SHA-256 of the token, ordered by their last use.
        self._known: dict[str, Precedence] = {}

    def precedence(self, shown: Collection[str]) -> Precedence:
        """That of whoever shows some tokens."""
        known = (self._known.get(tokens.digest(token), Precedence.STRANGER) for token in shown)
        return max(known, default=Precedence.STRANGER)

    def note(self, token: str, role: Role | None) -> None:
        """Note the largest role that a token gives now; None: it gives none."""
        digest = tokens.digest(token)
        self._known.pop(digest, None)
        if role is not None:
            self._known[digest] = Precedence.WORKER if role.includes(Role.WORKER) else Precedence.READER
            if len(self._known) > self._most:
                del self._known[next(iter(self._known))]
