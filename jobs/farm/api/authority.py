"""What the tokens of a request allow, and why it is refused otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request

from db import Campaign
from db.records import Right
from db.states import Role
from db.trust.terms import Terms
from jobs.farm.guard.access import Access
from jobs.reach.wire import HEADER, require_understood
from langford.errors import LangfordError

T = TypeVar("T")


class NoToken(LangfordError):
    """A request carries no token."""


class Forbidden(LangfordError):
    """The tokens of a request do not give the right to what it asks for."""


class Authority:
    """Allows requests to the campaigns of a server, and refuses them."""

    def __init__(self, access: Access) -> None:
        self.access = access

    async def ask(self, request: Request, role: Role, answer: Callable[[Campaign, Right], T]) -> T:
        """Call a function of the campaign of a request, and of what its tokens give there, in a thread.

        Raises NoToken, what :meth:`require` and the function raise, and LedgerError.
        """
        tokens = self.tokens(request)
        return await self.access.ask(request, tokens, lambda right: answer(*self.require(request, role, right)))

    def require(self, request: Request, role: Role, right: Right | None) -> tuple[Campaign, Right]:
        """The campaign of a request, and its right there.

        Raises Forbidden, and BadMessage or OtherVersion for a client of another version.

        Args:
            right: what the tokens of the request give in its campaign; None: nothing.
        """
        name = request.path_params["name"]
        if right is None:
            raise Forbidden(
                "no campaign here has this name and this token: check both, and whether the token has expired "
                "or was revoked"
            )
        if not right.role.includes(role):
            asked = f"{name}: token {right.number} of role {right.role} asks for something that needs role {role}"
            self.access.log.say(self.access.address(request), asked)
            raise Forbidden(f"this needs a token of role {role}, yours is {right.role}: ask for another one")
        said = request.headers.get(HEADER)
        # Browsers state no version, and need none to read.
        if said is not None or request.method == "POST":
            require_understood(said)
        return self.access.campaigns[name], right

    def terms(self, right: Right) -> Terms:
        """What the workers with a right may have."""
        return Terms.of(right.token, self.access.hearing.unheard)

    async def opened(self, request: Request) -> list[str]:
        """The names of the campaigns that the tokens of a request open, at least one.

        Raises NoToken or Forbidden.
        """
        names = await self.access.opened(request, self.tokens(request))
        if not names:
            raise Forbidden("this token opens no campaign here: check it")
        return names

    def tokens(self, request: Request) -> list[str]:
        """At least one; raises NoToken."""
        tokens = self.access.tokens(request)
        if not tokens:
            raise NoToken("send a token: Authorization: Bearer TOKEN")
        return tokens
