"""The precedence of requests to the task server: workers come first, then readers, then strangers.

Each of them has its own threads and its own allowance of requests, so that none delays those before it.
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

MAX_BEARERS = 10_000
T = TypeVar("T")


class Precedence(IntEnum):
    """Who sends a request; the larger comes first."""

    STRANGER = 0
    READER = 1
    WORKER = 2


THREADS = {Precedence.STRANGER: 2, Precedence.READER: 4, Precedence.WORKER: 40}
"""How many requests may use the ledger at the same time."""


class Threads:
    """The threads in which requests wait for the ledger: few for strangers and readers, most for workers."""

    def __init__(self) -> None:
        self._limits = {who: CapacityLimiter(most) for who, most in THREADS.items()}

    async def call(self, who: Precedence, function: Callable[..., T], *arguments: object) -> T:
        """Call a function in a thread, as soon as one for requests of this precedence is free."""
        return await anyio.to_thread.run_sync(partial(function, *arguments), limiter=self._limits[who])


class Bearers:
    """The tokens that were valid when they were last looked up; used on the event loop only.

    They only decide the precedence of a request: the tokens of each request are looked up again, so that a token
    gives no right from the moment when it is revoked.
    """

    def __init__(self, most: int = MAX_BEARERS) -> None:
        """``most``: how many tokens are remembered; the least recently used ones are forgotten."""
        self._most = most
        # By the SHA-256 of the token, ordered by their last use.
        self._known: dict[str, Precedence] = {}

    def precedence(self, carried: Collection[str]) -> Precedence:
        known = (self._known.get(tokens.digest(token), Precedence.STRANGER) for token in carried)
        return max(known, default=Precedence.STRANGER)

    def note(self, token: str, role: Role | None) -> None:
        """Note the largest role that a token gives now; None: it gives none."""
        digest = tokens.digest(token)
        self._known.pop(digest, None)
        if role is not None:
            self._known[digest] = Precedence.WORKER if role.includes(Role.WORKER) else Precedence.READER
            if len(self._known) > self._most:
                del self._known[next(iter(self._known))]
