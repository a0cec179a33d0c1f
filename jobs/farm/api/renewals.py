"""Renewals are made together: by one look-up of their tokens and one transaction, at most ten times a second.

Thousands of workers renew twice a minute.  One by one, each would cost a thread, a look-up and a commit to disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from starlette.requests import Request

from db import Campaign
from db.campaign.worker import Extension
from db.errors import LedgerError
from db.messages import encoded
from db.records import Right
from db.states import Role
from jobs.farm.api.authority import Authority
from jobs.farm.guard.bodies import ATTEMPTS
from jobs.farm.guard.charges import Charges, Payer
from jobs.farm.guard.shares import Queue
from jobs.reach import wire
from langford.errors import LangfordError

PAUSE_SECONDS = 0.1
"""From the start of one transaction to that of the next."""
MAX_BYTES = 64 * 1024
"""Of the bodies of one transaction, besides the last of them: some hundred renewals, of a task each."""
Outcome = bytes | Exception


@dataclass(frozen=True, eq=False)
class Waiting:
    """A renewal, and its answer."""

    request: Request
    payer: Payer
    tokens: Sequence[str]
    body: bytes
    answer: asyncio.Future[bytes]

    def settle(self, outcome: Outcome) -> None:
        if self.answer.done():  # it has waited for too long
            return
        if isinstance(outcome, Exception):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)


class Renewals:
    """Those of a server; those of the token that has used least go first."""

    def __init__(self, authority: Authority, charges: Charges) -> None:
        self._authority, self._access, self._charges = authority, authority.access, charges
        self._queue, self._thread = Queue[Waiting](charges), ThreadPoolExecutor(1)
        self._making: asyncio.Task[None] | None = None
        self._due = 0.0

    async def make(self, request: Request, body: bytes) -> bytes:
        """The answer to a renewal; raises BadMessage, NoTime, LedgerError, and as the authority."""
        loop, payer = asyncio.get_running_loop(), self._access.payer(request)
        mine = Waiting(request, payer, self._authority.tokens(request), body, loop.create_future())
        self._queue.put(payer, mine)
        if self._making is None or self._making.done():
            self._making = loop.create_task(self._make_all())
        return await self._queue.in_time(mine.answer)

    async def _make_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._queue:
            await asyncio.sleep(self._due - loop.time())
            self._due = loop.time() + PAUSE_SECONDS
            together = self._next()
            tokens = {token for each in together for token in each.tokens}
            try:
                rights, outcomes = await loop.run_in_executor(self._thread, self._made, together, tokens)
            except Exception as error:
                outcomes = dict.fromkeys(together, error)
            else:
                self._access.note(tokens, rights)
            for each in together:
                each.settle(outcomes[each])

    def _next(self) -> list[Waiting]:
        together, size = list[Waiting](), 0
        while size < MAX_BYTES and (found := self._queue.next()):
            together.append(found[1])
            size += len(found[1].body)
        return together

    def _made(self, together: list[Waiting], tokens: set[str]) -> tuple[list[Right], dict[Waiting, Outcome]]:
        """What the tokens give, and the answers; raises LedgerError when the ledger tells nothing of the tokens."""
        with self._charges.charging(*(each.payer for each in together)):
            rights = self._access.look_up(tokens)
            outcomes, asked = dict[Waiting, Outcome](), dict[Campaign, dict[Waiting, Extension]]()
            for each in together:
                try:
                    campaign, renewal = self._asked(each, rights)
                except LangfordError as error:
                    outcomes[each] = error
                else:
                    asked.setdefault(campaign, {})[each] = renewal
            for campaign, renewals in asked.items():
                outcomes |= _renewed(campaign, renewals)
            return rights, outcomes

    def _asked(self, waiting: Waiting, rights: Sequence[Right]) -> tuple[Campaign, Extension]:
        """Raises BadMessage, and as the authority."""
        theirs = [right for right in rights if right.token in waiting.tokens]
        right = self._access.right(waiting.request, theirs)
        campaign, right = self._authority.require(waiting.request, Role.WORKER, right)
        said = ATTEMPTS.parse(waiting.body, wire.Renewal)
        terms = self._authority.terms(right)
        return campaign, Extension(terms, said.attempts, said.seconds, dict(said.steps), dict(said.computed))


def _renewed(campaign: Campaign, renewals: dict[Waiting, Extension]) -> dict[Waiting, Outcome]:
    try:
        running = campaign.worker.renew_each(list(renewals.values()))
    except LedgerError as error:
        return dict.fromkeys(renewals, error)
    return {
        each: encoded(wire.Running(running=sorted(theirs))) for each, theirs in zip(renewals, running, strict=True)
    }
