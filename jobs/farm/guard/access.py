"""Access to the task server: the address of a client, who is charged, and what its tokens open.

Workers and programs send a token in the header "Authorization".  A browser sends the cookie of its session instead,
which stands for tokens.  They only give the right to read, so that no other site can make the browser change
anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from db import Campaign, Ledger
from db.records import Right
from db.states import Role
from db.work import tokens
from jobs.farm.guard import cookie
from jobs.farm.guard.addresses import address_of
from jobs.farm.guard.bodies import Bounds
from jobs.farm.guard.bounds import BODIES, BODIES_OF_A_TOKEN, PIECE, READING, REMEMBERED, WORKING
from jobs.farm.guard.charges import Payer
from jobs.farm.guard.defence import Defence
from jobs.farm.guard.shares import Lane, Places, Rank

PAYER = "langford.payer"
"""Where the scope of a request keeps who is charged for it."""
RANK = "langford.rank"
"""Where the scope of a request keeps what goes before it."""
T = TypeVar("T")


class KnownTokens:
    """The tokens that were valid when they were last looked up, with their roles; used on the event loop only.

    They only decide who is charged for a request, and whether its body is worth reading: the tokens of each request
    are looked up again, so that a token gives no right from the moment when it is revoked.
    """

    def __init__(self, most: int = REMEMBERED) -> None:
        """``most``: how many tokens are remembered; the least recently used ones are forgotten."""
        self._most = most
        # Who is charged, and the role by the UUID of each campaign, by the SHA-256 of the token; by their last use.
        self._known: dict[str, tuple[Payer, Mapping[str, Role]]] = {}

    def first_known(self, carried: Collection[str]) -> Payer | None:
        """Who is charged for a request with some tokens: the first that is known; None: none is."""
        known = (self._known[digest] for digest in map(tokens.digest, carried) if digest in self._known)
        return next((payer for payer, _ in known), None)

    def gives(self, carried: Collection[str], campaign: str, role: Role) -> bool:
        """Whether one of some tokens gave a role in a campaign, by its UUID."""
        known = (self._known[digest] for digest in map(tokens.digest, carried) if digest in self._known)
        return any(campaign in roles and roles[campaign].includes(role) for _, roles in known)

    def note(self, token: str, rights: Collection[Right]) -> None:
        """``rights``: those that it gives; none: it is not valid."""
        digest = tokens.digest(token)
        self._known.pop(digest, None)
        for right in rights:
            payer = Payer(digest, name=f"token {right.number}, a {right.role}'s")
            self._known[digest] = payer, {each.campaign: each.role for each in rights}
            if len(self._known) > self._most:
                del self._known[next(iter(self._known))]


class Access:
    """The campaigns of a server, and who may do what with them; ``log`` is for operators, not for clients."""

    def __init__(self, ledger: Ledger, campaigns: Mapping[str, Campaign], defence: Defence) -> None:
        """
        Args:
            ledger: an open one.
            campaigns: of it, by the names under which the server has them.
            defence: of the server.
        """
        self.campaigns, self.log = campaigns, defence.log
        self._ledger, self._door = ledger, defence.door
        self.hearing = defence.hearing
        self._proxies, self._sessions = frozenset(defence.proxies), defence.sessions
        self._known_tokens = KnownTokens()
        self._working, self._reading = Lane(defence.charges, WORKING), Lane(defence.charges, READING)
        self._bodies = Places(defence.charges, BODIES, BODIES_OF_A_TOKEN)

    def address(self, request: Request) -> str:
        return address_of(_client(request)[0], ",".join(_entries(request, "x-forwarded-for")), self._proxies)

    def encrypted(self, request: Request) -> bool:
        """On its way to this server, or to its proxy."""
        said = _entries(request, "x-forwarded-proto") if _client(request)[0] in self._proxies else [""]
        return (said[-1] or request.scope.get("scheme")) == "https"

    def payer(self, request: Request) -> Payer:
        """Who is charged for a request: a stranger, unless one of its tokens was valid when last looked up."""
        found: Payer | None = request.scope.get(PAYER)
        if found is None:
            known = self._known_tokens.first_known(self.tokens(request))
            request.scope[PAYER] = found = known or Payer.stranger(self.address(request))
            if known is not None:  # the body, which may be large, has not been read yet
                self._door.show(_client(request), known)
        return found

    def miss(self, request: Request) -> None:
        """Note that there is no time for a request."""
        self.hearing.miss(self.payer(request))

    def tokens(self, request: Request) -> list[str]:
        """The tokens that a request carries; those of a session only where the request reads."""
        if "authorization" in request.headers or request.method not in ("GET", "HEAD"):
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            return [token] if scheme.lower() == "bearer" and token else []
        return self.of_session(request)

    def of_session(self, request: Request) -> list[str]:
        """The tokens of the session whose cookie a request carries, newest first; none without a session."""
        return self._sessions.tokens(cookie.read(request, self.encrypted(request)))

    def begin_session(self, request: Request, answer: Response, tokens: Sequence[str]) -> None:
        """Begin a session of some tokens, newest first, in place of the one of the request."""
        self._sessions.end(cookie.read(request, self.encrypted(request)))
        cookie.write(request, answer, self._sessions.begin(tokens), self.encrypted(request))

    def end_session(self, request: Request, answer: Response) -> None:
        """End the session of a request, also for copies of its cookie, which the browser deletes."""
        self._sessions.end(cookie.read(request, self.encrypted(request)))
        cookie.write(request, answer, "", self.encrypted(request))

    async def role(self, request: Request, tokens: Sequence[str]) -> Role | None:
        """The role that tokens give in the campaign of a request; None: see :meth:`right`.  Raises LedgerError."""
        right = await self.ask(request, tokens, lambda right: right)
        return None if right is None else right.role

    async def opened(self, request: Request, tokens: Sequence[str]) -> list[str]:
        """Raises LedgerError."""
        return (await self._opened(request, tokens))[0]

    async def log_in(self, request: Request, token: str) -> list[str]:
        """As :meth:`opened`; the log names the token by its number."""
        names, rights = await self._opened(request, [token])
        for name in names:
            right = rights[self.campaigns[name].record.uuid]
            said = f"{name}: token {right.number} of role {right.role} logs in"
            self.log.say(self.address(request), said)
        return names

    async def _opened(self, request: Request, tokens: Sequence[str]) -> tuple[list[str], Mapping[str, Right]]:
        found = await self._with_rights(request, tokens, lambda rights: rights)
        rights = {right.campaign: right for right in found}
        names = [name for name, campaign in self.campaigns.items() if campaign.record.uuid in rights]
        if not names:
            self.log.say(self.address(request), "a request with a wrong token")
        return names, rights

    async def ask(self, request: Request, tokens: Sequence[str], answer: Callable[[Right | None], T]) -> T:
        """Call a function of the right that tokens give in the campaign of a request, in a thread.

        None: see :meth:`right`.  Raises what the function raises, and LedgerError.
        """
        return await self._with_rights(request, tokens, lambda rights: answer(self.right(request, rights)))

    def right(self, request: Request, rights: Sequence[Right]) -> Right | None:
        """The largest of some rights in the campaign of a request; None: none, for a wrong name or wrong tokens."""
        # A wrong name gets the same answer after the same query as a wrong token, so that neither the answer
        # nor the time that it takes reveals which campaigns exist.
        campaign = self.campaigns.get(request.path_params["name"])
        here = [right for right in rights if campaign is not None and right.campaign == campaign.record.uuid]
        if not here:
            self.log.say(self.address(request), "a request with a wrong name or token")
            return None
        return here[-1]

    def gave(self, request: Request, role: Role) -> bool:
        """Whether the tokens of a request gave a role in its campaign when they were last looked up."""
        campaign = self.campaigns.get(request.path_params["name"])
        return campaign is not None and self._known_tokens.gives(self.tokens(request), campaign.record.uuid, role)

    @asynccontextmanager
    async def body(self, request: Request, bounds: Bounds) -> AsyncIterator[bytes]:
        """The body of a request, while it is used: a large one is read at the turn of its payer.

        Raises BodyTooLarge, before anything is read where the head says so.
        """
        if bounds.require(request) <= PIECE:
            yield await bounds.read(request)
        else:
            async with self._bodies.of(self.payer(request), rank_of(request)):
                yield await bounds.read(request)

    async def read(self, request: Request, function: Callable[..., T], *arguments: object) -> T:
        """Call a function that may wait for a status, in one of the threads for that."""
        return await self._reading.run(self.payer(request), partial(function, *arguments))

    async def _with_rights(self, request: Request, tokens: Sequence[str], answer: Callable[[list[Right]], T]) -> T:
        """Call a function of what :meth:`look_up` finds."""
        found: list[Right] | None = None

        def look_up() -> T:
            nonlocal found
            found = self.look_up(tokens)
            return answer(found)

        try:
            return await self._working.run(self.payer(request), look_up, rank_of(request))
        finally:
            if found is not None:
                self.note(tokens, found)
                known = self._known_tokens.first_known(tokens)
                if known is not None:
                    request.scope[PAYER] = known
                    self._door.show(_client(request), known)

    def look_up(self, tokens: Collection[str]) -> list[Right]:
        """What tokens give in the campaigns of this server, the largest right last, by one query."""
        here = {campaign.record.uuid for campaign in self.campaigns.values()}
        rights = (right for right in self._ledger.rights(tokens) if right.campaign in here)
        return sorted(rights, key=lambda right: right.role.rank)

    def note(self, tokens: Iterable[str], rights: Collection[Right]) -> None:
        """Remember what was found of some tokens."""
        for token in tokens:
            self._known_tokens.note(token, [right for right in rights if right.token == token])


def rank_of(request: Request) -> Rank:
    """OTHERS, unless the scope of the request says something else."""
    rank: Rank = request.scope.get(RANK, Rank.OTHERS)
    return rank


def _entries(request: Request, header: str) -> list[str]:
    """The entries in all lines of a header, at least one; the last one is of the proxy that connects."""
    # Some proxies append their entry to the line that came with the request, others add a line of their own.
    return [entry.strip() for entry in ",".join(request.headers.getlist(header)).split(",")]


def _client(request: Request) -> tuple[str, int]:
    return (request.client.host, request.client.port) if request.client else ("", 0)
