"""The cookie in which a browser keeps the identifier of its session.

No script can read the cookie, no other site can make the browser send it, and where the server has TLS it is sent
over TLS only.  It gives no right but to read, whatever the roles of the session's tokens.
"""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.responses import Response

from jobs.farm.guard.bounds import SESSION_SECONDS


def read(request: Request, encrypted: bool) -> str:
    """What the cookie of a request contains; "" without one."""
    # Not request.cookies: parsing thousands of other cookies would take longer than answering the request.
    kept = re.findall(
        rf"(?:^|[;,]) *{_name(request, encrypted)}=([^;, ]*)", ",".join(request.headers.getlist("cookie"))
    )
    return kept[-1] if kept else ""


def write(request: Request, response: Response, session: str, encrypted: bool) -> None:
    """Make the browser keep the identifier of a session; without one it deletes the cookie."""
    response.set_cookie(
        _name(request, encrypted),
        session,
        max_age=SESSION_SECONDS if session else 0,
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
