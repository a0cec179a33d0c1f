"""Renewals with one token that wait for their turn are made together: by one look-up and one transaction.

Thousands of workers renew twice a minute.  One by one, each would wait for the disk.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from db import WorkerCampaign
from db.messages import BadMessage, encoded
from jobs.farm.guard.bodies import ATTEMPTS
from jobs.reach import wire

MOST, MAX_BYTES = 250, 4_096
"""How many are made together, and how large each may be: enough for the tasks of a node."""
Key = tuple[str, ...]
"""The name of a campaign, and the tokens of a request."""
Outcome = bytes | Exception
AtItsTurn = Callable[[Callable[[WorkerCampaign], list[Outcome]]], Awaitable[list[Outcome]]]
"""Calls a function, in a thread, of a campaign that is reached with a token, when it is the token's turn."""


@dataclass(frozen=True, eq=False)
class Waiting:
    """A renewal, and its answer."""

    body: bytes
    answer: asyncio.Future[bytes]

    def settle(self, outcome: Outcome) -> None:
        if self.answer.done():  # its client has left
            return
        if isinstance(outcome, Exception):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)


class Renewals:
    """Those of a server."""

    def __init__(self) -> None:
        self._waiting, self._lock = dict[Key, list[Waiting]](), threading.Lock()

    async def make(self, key: Key, body: bytes, at_its_turn: AtItsTurn) -> bytes:
        """The answer to a renewal; raises BadMessage, and what the first of those that wait meets at its turn."""
        mine = Waiting(body, asyncio.get_running_loop().create_future())
        with self._lock:
            together = self._waiting.get(key, [])
            if not 0 < len(together) < MOST:
                together = self._waiting[key] = []
            together.append(mine)
        if together[0] is mine:
            try:
                outcomes = await at_its_turn(lambda campaign: self._made(key, together, campaign))
            except Exception as error:
                self._close(key, together)
                outcomes = [error] * len(together)
            except asyncio.CancelledError:  # the server ends
                self._close(key, together)
                for each in together:
                    each.answer.cancel()
                raise
            for each, outcome in zip(together, outcomes, strict=True):
                each.settle(outcome)
        return await mine.answer

    def _close(self, key: Key, together: list[Waiting]) -> None:
        """From now on none is added."""
        with self._lock:
            if self._waiting.get(key) is together:
                del self._waiting[key]

    def _made(self, key: Key, together: list[Waiting], workers: WorkerCampaign) -> list[Outcome]:
        self._close(key, together)
        asked = [_parsed(each.body) for each in together]
        renewals = [each for each in asked if isinstance(each, wire.Renewal)]
        running = {
            seconds: _renewed(workers, seconds, (each for each in renewals if each.seconds == seconds))
            for seconds in {each.seconds for each in renewals}
        }
        return [_own(each, running[each.seconds]) if isinstance(each, wire.Renewal) else each for each in asked]


def _parsed(body: bytes) -> wire.Renewal | BadMessage:
    try:
        return ATTEMPTS.parse(body, wire.Renewal)
    except BadMessage as error:
        return error


def _renewed(workers: WorkerCampaign, seconds: float, renewals: Iterable[wire.Renewal]) -> set[int]:
    """Which of the attempts of some renewals run."""
    shown, steps, computed = [], dict[int, int](), dict[int, float]()
    for each in renewals:
        shown += each.attempts
        steps |= dict(each.steps)
        computed |= dict(each.computed)
    return workers.renew(shown, seconds, steps, computed)


def _own(renewal: wire.Renewal, running: set[int]) -> bytes:
    """The answer to one of the renewals that were made together."""
    return encoded(wire.Running(running=sorted(running.intersection(shown.attempt for shown in renewal.attempts))))
