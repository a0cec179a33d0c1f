"""Access to the task server: the address of a client, how often it may ask, and what its tokens open.

Workers and programs send a token in the header "Authorization".  A browser sends the tokens of its cookie instead.
They only give the right to read, so that no other site can make the browser change anything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import IntEnum
from functools import partial
from typing import TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import Request

from db import Campaign, Ledger
from db.records import Right
from db.states import Role
from db.work import tokens
from jobs.clock import SYSTEM, Clock
from jobs.farm.guard import cookie
from jobs.farm.guard.connections import Connections, LimitedLog, Proxies
from langford.errors import LangfordError

MAX_BEARERS = 10_000
T = TypeVar("T")


class Precedence(IntEnum):
    """Who sends a request; the larger comes first.

    Each of them has its own threads and its own allowance of requests, so that none delays those before it.
    """

    STRANGER = 0
    READER = 1
    WORKER = 2


THREADS = {Precedence.STRANGER: 2, Precedence.READER: 4, Precedence.WORKER: 40}
"""How many requests may use the ledger at the same time: few of strangers and readers, most of workers."""


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


REQUESTS_PER_SECOND, BURST = 200.0, 400.0
MAX_ADDRESSES, LOOK_SECONDS = 10_000, 1.0
"""About how many addresses are remembered, and the time between two searches for those that may be forgotten."""


class RateLimit:
    """A limit on the requests per second from one address; short bursts may exceed it."""

    def __init__(
        self, per_second: float = REQUESTS_PER_SECOND, burst: float = BURST, clock: Clock = SYSTEM
    ) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        # By address: requests that it may send now, and the time of its last request.
        self._allowances: dict[str, tuple[float, float]] = {}
        self._lock, self._next_look = threading.Lock(), 0.0

    def wait(self, address: str, cost: float = 1.0) -> float:
        """Seconds until the address may send a request; 0 when it may send this one.

        ``cost``: how many requests this one counts as.
        """
        now, cost = self._clock.monotonic(), min(cost, self._burst)
        with self._lock:
            if len(self._allowances) > MAX_ADDRESSES and now >= self._next_look:
                self._next_look = now + LOOK_SECONDS
                # An address that has sent nothing since then has its whole burst again, like a new one.
                full_since = now - self._burst / self._per_second
                self._allowances = {
                    known: allowance for known, allowance in self._allowances.items() if allowance[1] > full_since
                }
            allowed, last = self._allowances.get(address, (self._burst, now))
            allowed = min(self._burst, allowed + (now - last) * self._per_second)
            accepted = allowed >= cost
            self._allowances[address] = (allowed - cost * accepted, now)
            return 0.0 if accepted else (cost - allowed) / self._per_second


class TooManyRequests(LangfordError):
    """An address sends more requests than it may."""

    def __init__(self, seconds: float) -> None:
        """``seconds``: until the client may send its next request."""
        super().__init__("too many requests; wait and repeat")
        self.headers = {"Retry-After": f"{seconds:.2f}"}


class Access:
    """The campaigns of a server, and who may do what with them; ``log`` is for operators, not for clients."""

    def __init__(
        self,
        ledger: Ledger,
        campaigns: Mapping[str, Campaign],
        limit: RateLimit,
        connections: Connections,
        log: LimitedLog,
        proxies: Collection[str] = (),
    ) -> None:
        """``limit``: strangers, readers and workers have one each; ``proxies``: their X-Forwarded-For counts."""
        self.campaigns, self.log = campaigns, log
        self._ledger, self._limit, self._connections = ledger, limit, connections
        self._hosts, self._proxies = frozenset(proxies), Proxies(frozenset(proxies))
        self._bearers = Bearers()
        self._threads = {who: CapacityLimiter(most) for who, most in THREADS.items()}

    def address(self, request: Request) -> str:
        return self._proxies.client(_client(request)[0], ",".join(_entries(request, "x-forwarded-for")))

    def encrypted(self, request: Request) -> bool:
        """On its way to this server, or to its proxy."""
        said = _entries(request, "x-forwarded-proto") if _client(request)[0] in self._hosts else [""]
        return (said[-1] or request.url.scheme) == "https"

    def admit(self, request: Request) -> None:
        """Raises TooManyRequests."""
        self._charge(request, self._precedence(request, self.tokens(request)))

    def _charge(self, request: Request, who: Precedence, cost: int = 1) -> None:
        # Strangers do not reduce the allowance of a worker at the same address, or behind the same proxy.
        wait = self._limit.wait(f"{self.address(request)} {who.name}", cost)
        if wait:
            raise TooManyRequests(wait)

    def _precedence(self, request: Request, tokens: Sequence[str]) -> Precedence:
        known = self._bearers.precedence(tokens)
        # The tokens of a cookie only give the right to read.
        return known if "authorization" in request.headers else min(known, Precedence.READER)

    def tokens(self, request: Request) -> list[str]:
        """The tokens that a request carries; those of a cookie only where the request reads."""
        if "authorization" in request.headers or request.method not in ("GET", "HEAD"):
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            return [token] if scheme.lower() == "bearer" and token else []
        return self.cookies(request)

    def cookies(self, request: Request) -> list[str]:
        return cookie.read(request, self.encrypted(request))

    async def role(self, request: Request, name: str, tokens: Sequence[str]) -> Role | None:
        """The role that tokens give in a campaign; None for a wrong name or wrong tokens.

        Raises LedgerError and TooManyRequests.
        """
        right = await self.right(request, name, tokens)
        return None if right is None else right.role

    async def right(self, request: Request, name: str, tokens: Sequence[str]) -> Right | None:
        # A wrong name gets the same answer after the same query as a wrong token, so that neither the answer nor
        # the time that it takes reveals which campaigns exist.
        rights = await self._rights(request, tokens)
        campaign = self.campaigns.get(name)
        if campaign is None or campaign.record.uuid not in rights:
            self.log.say(self.address(request), "a request with a wrong name or token")
            return None
        return rights[campaign.record.uuid]

    async def opened(self, request: Request, tokens: Sequence[str]) -> list[str]:
        """Raises LedgerError and TooManyRequests."""
        rights = await self._rights(request, tokens)
        names = [name for name, campaign in self.campaigns.items() if campaign.record.uuid in rights]
        if not names:
            self.log.say(self.address(request), "a request with a wrong token")
        return names

    async def work(self, request: Request, function: Callable[..., T], *arguments: object) -> T:
        return await self._in_thread(self._precedence(request, self.tokens(request)), function, *arguments)

    async def read(self, function: Callable[..., T], *arguments: object) -> T:
        """Call a function in one of the threads for readers, whatever the precedence of the request."""
        return await self._in_thread(Precedence.READER, function, *arguments)

    async def _in_thread(self, who: Precedence, function: Callable[..., T], *arguments: object) -> T:
        """Call a function in a thread, as soon as one for requests of this precedence is free."""
        return await anyio.to_thread.run_sync(partial(function, *arguments), limiter=self._threads[who])

    async def _rights(self, request: Request, tokens: Sequence[str]) -> dict[str, Right]:
        """The largest right that tokens give in each campaign of this server, by its UUID.

        It takes one query, but each token counts as a request of the address.
        """
        before = self._precedence(request, tokens)
        if len(tokens) > 1:
            self._charge(request, before, len(tokens) - 1)
        here = {campaign.record.uuid for campaign in self.campaigns.values()}
        found = await self._in_thread(before, self._ledger.rights, tokens)
        rights = sorted((right for right in found if right.campaign in here), key=lambda right: right.role.rank)
        largest = {right.token: right.role for right in rights}
        for token in tokens:
            self._bearers.note(token, largest.get(token))
        if rights:
            now = self._precedence(request, tokens)
            if now > before:
                self._charge(request, now)
            self._connections.vouch(_client(request), now is Precedence.WORKER)
        return {right.campaign: right for right in rights}


def _entries(request: Request, header: str) -> list[str]:
    """The entries in all lines of a header, at least one; the last one is of the proxy that connects."""
    # Some proxies append their entry to the line that came with the request, others add a line of their own.
    return [entry.strip() for entry in ",".join(request.headers.getlist(header)).split(",")]


def _client(request: Request) -> tuple[str, int]:
    return (request.client.host, request.client.port) if request.client else ("", 0)
