"""The cookie in which a browser keeps the tokens of the campaigns that it watches.

No script can read the cookie, no other site can make the browser send it, and where the server has TLS it is sent
over TLS only.  It gives no right but to read, whatever the roles of its tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

MAX_TOKENS = 16
LIFETIME_SECONDS = 12 * 3_600
TOKEN = re.compile(r"[A-Za-z0-9_-]{1,100}")
SEPARATOR = "."


def read(request: Request, encrypted: bool) -> list[str]:
    """The tokens in the cookie of a request, newest first; everything after the first MAX_TOKENS is ignored."""
    # Not request.cookies: parsing thousands of other cookies would take longer than answering the request.
    kept = re.findall(
        rf"(?:^|[;,]) *{_name(request, encrypted)}=([^;, ]*)", ",".join(request.headers.getlist("cookie"))
    )
    tokens = kept[-1].split(SEPARATOR, MAX_TOKENS)[:MAX_TOKENS] if kept else []
    return [token for token in tokens if TOKEN.fullmatch(token)]


def write(request: Request, response: Response, tokens: Sequence[str], encrypted: bool) -> None:
    """Make the browser keep tokens, newest first; without tokens it deletes the cookie."""
    response.set_cookie(
        _name(request, encrypted),
        SEPARATOR.join(tokens[:MAX_TOKENS]),
        max_age=LIFETIME_SECONDS if tokens else 0,
        path="/",
        secure=encrypted,
        httponly=True,
        samesite="strict",
    )


def _name(request: Request, encrypted: bool) -> str:
    """The name of this server's cookie, with its port: browsers send the cookies of all ports of a host to each.

    The prefix makes browsers accept the cookie from this host over TLS only.
    """
    port = request.headers.get("host", "").rpartition(":")[2]
    prefix = "__Host-" if encrypted else ""
    return f"{prefix}langford-{port if port.isdecimal() and port.isascii() else 'default'}"
