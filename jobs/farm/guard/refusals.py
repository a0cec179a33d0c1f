"""What a client is answered when its request fails: a table from exceptions to answers.

A client learns nothing about the ledger or the program from an unexpected error: the error is logged, under a
number that the answer may quote.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from starlette.middleware import Middleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import Response

from db.errors import LedgerError
from jobs.farm.guard.access import Access
from jobs.farm.guard.shares import NoTime
from langford.errors import LangfordError


class NotAllowed(LangfordError):
    """An address does not take requests of this method."""

    def __init__(self, allowed: Collection[str]) -> None:
        """``allowed``: the methods that it takes."""
        self.headers = {"Allow": ", ".join(sorted(allowed))}
        super().__init__(f"this address takes {self.headers['Allow']} only")


Respond = Callable[[str, int, Mapping[str, str]], Response]
"""Makes a response from a message, a status and headers."""


@dataclass(frozen=True)
class Refusal:
    """How a request is answered that fails with one kind of exception."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    # What the client reads instead of the error's own message, which is logged then; "{number}" in it becomes the
    # number of the line in the log.  None: the error's own message.
    message: str | None = None
    is_logged: bool = False  # whether the operator reads the error's own message too


def refusing(access: Access, table: Mapping[type[Exception], Refusal], respond: Respond) -> Middleware:
    """What answers the requests that fail; the nearest class of an exception decides."""
    # Not the exception_handlers of Starlette: those would put the answer to Exception outside of all middleware,
    # where nothing counts it, and raise the error again.
    handlers = {error: partial(_answer, access, refusal, respond) for error, refusal in table.items()}
    return Middleware(ExceptionMiddleware, handlers=handlers)


async def _answer(
    access: Access, refusal: Refusal, respond: Respond, request: Request, error: Exception
) -> Response:
    message, headers = str(error), dict(refusal.headers)
    if isinstance(error, NotAllowed | NoTime):
        headers |= error.headers
    if isinstance(error, NoTime):
        access.miss(request)
    elif isinstance(error, LedgerError):
        access.hearing.miss(None)
    if refusal.message is not None:
        number = uuid.uuid4().hex[:12]
        traceback = None if isinstance(error, LedgerError) else error
        access.log.say(access.address(request), f"{number}: {error}", traceback)
        message = refusal.message.format(number=number)
    elif refusal.is_logged:
        access.log.say(access.address(request), f"{request.path_params['name']}: {error}")
    return respond(message, refusal.status, headers)
