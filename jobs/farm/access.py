"""Who asks the task server, how often, and what the tokens of a request open.

Workers and programs show a token in the header "Authorization".  A browser shows those of its cookie instead,
with which it may only read: no other site can make it change anything.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping, Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from db import Campaign
from db.states import Role
from jobs.dashboard import cookie
from jobs.farm.connections import Connections, LimitedLog, Proxies
from langford.errors import LangfordError

REQUESTS_PER_SECOND, BURST = 200.0, 400.0
MOST_ADDRESSES = 10_000


class RateLimit:
    """A limit on the requests per second from one address; short bursts may exceed it."""

    def __init__(self, per_second: float = REQUESTS_PER_SECOND, burst: float = BURST) -> None:
        self._per_second, self._burst = per_second, burst
        # By address: requests that it may send now, and the time of its last request.
        self._allowances: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def wait(self, address: str) -> float:
        """Seconds until the address may send a request; 0 when it may send this one."""
        now = time.monotonic()
        with self._lock:
            if len(self._allowances) > MOST_ADDRESSES:
                # An address that was silent since then has its whole burst again, like a new one.
                full_since = now - self._burst / self._per_second
                self._allowances = {
                    known: allowance for known, allowance in self._allowances.items() if allowance[1] > full_since
                }
            allowed, last = self._allowances.get(address, (self._burst, now))
            allowed = min(self._burst, allowed + (now - last) * self._per_second)
            accepted = allowed >= 1
            self._allowances[address] = (allowed - accepted, now)
            return 0.0 if accepted else (1 - allowed) / self._per_second


class TooManyRequests(LangfordError):
    """An address sends more requests than it may.

    Attributes:
        seconds: until it may send the next one.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__("too many requests; wait and repeat")
        self.seconds = seconds


class Access:
    """The campaigns of a server, and who may do what with them."""

    def __init__(
        self,
        campaigns: Mapping[str, Campaign],
        limit: RateLimit,
        connections: Connections,
        log: LimitedLog,
        proxies: Collection[str] = (),
    ) -> None:
        """
        Args:
            campaigns: by name, at least one.
            limit: on the requests of an address; strangers and workers have one each.
            connections: is told which of them show a token.
            log: for what operators shall know, and clients not.
            proxies: addresses of proxies, whose X-Forwarded-For is believed.
        """
        self.campaigns, self.log = campaigns, log
        self._limit, self._connections = limit, connections
        self._hosts, self._proxies = frozenset(proxies), Proxies(frozenset(proxies))
        self._any_campaign = next(iter(campaigns.values()))

    def address(self, request: Request) -> str:
        """The address by which the client of a request is limited."""
        return self._proxies.client(_client(request)[0], ",".join(_entries(request, "x-forwarded-for")))

    def encrypted(self, request: Request) -> bool:
        """Whether nobody between the client and the server, or its proxy, can read the request."""
        said = _entries(request, "x-forwarded-proto") if _client(request)[0] in self._hosts else [""]
        return (said[-1] or request.url.scheme) == "https"

    def admit(self, request: Request) -> None:
        """Count a request; raises TooManyRequests."""
        # Strangers at the address of a worker, or behind the same proxy, take nothing from its allowance.
        known = self._connections.knows(_client(request))
        self._count(f"{self.address(request)} known" if known else self.address(request))

    def _count(self, who: str) -> None:
        wait = self._limit.wait(who)
        if wait:
            raise TooManyRequests(wait)

    def tokens(self, request: Request) -> list[str]:
        """The tokens that a request shows; those of a cookie count for reading only."""
        if "authorization" in request.headers or request.method not in ("GET", "HEAD"):
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            return [token] if scheme.lower() == "bearer" and token else []
        return self.cookies(request)

    def cookies(self, request: Request) -> list[str]:
        """The tokens that the browser keeps in its cookie."""
        return cookie.read(request, self.encrypted(request))

    async def role(self, request: Request, name: str, tokens: Sequence[str]) -> Role | None:
        """The role that tokens give in a campaign; None for a wrong name or wrong tokens.

        Raises LedgerError and TooManyRequests.
        """
        campaign = self.campaigns.get(name)
        # The answer is the same for a wrong token and a wrong name: it does not tell which campaigns exist.
        # So does the time that it takes.
        role = await run_in_threadpool(_best_role, campaign or self._any_campaign, tokens)
        if campaign is None or role is None:
            self.log.say(self.address(request), "a request with a wrong name or token")
            return None
        self._vouch(request)
        return role

    async def opened(self, request: Request, tokens: Sequence[str]) -> list[str]:
        """The names of the campaigns that tokens open.  Raises LedgerError and TooManyRequests."""

        def names() -> list[str]:
            return [name for name, campaign in self.campaigns.items() if _best_role(campaign, tokens)]

        opened = await run_in_threadpool(names)
        if opened:
            self._vouch(request)
        else:
            self.log.say(self.address(request), "a request with a wrong token")
        return opened

    def _vouch(self, request: Request) -> None:
        if not self._connections.knows(_client(request)):
            self._connections.vouch(_client(request))
            self._count(f"{self.address(request)} known")


def _best_role(campaign: Campaign, tokens: Sequence[str]) -> Role | None:
    """The largest of the roles of some tokens."""
    roles = [role for role in map(campaign.role_of, tokens) if role]
    return max(roles, key=list(Role).index, default=None)


def _entries(request: Request, header: str) -> list[str]:
    """What is said in all lines of a header; at least one entry, the last one by the proxy that connects."""
    # Some proxies put their entry at the end of the line that came with the request, and some on a line of its own.
    return [entry.strip() for entry in ",".join(request.headers.getlist(header)).split(",")]


def _client(request: Request) -> tuple[str, int]:
    """The other end of a request's connection."""
    return (request.client.host, request.client.port) if request.client else ("", 0)
