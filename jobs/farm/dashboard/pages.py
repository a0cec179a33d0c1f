"""The pages of the dashboard, their files, and the form with which a browser gets its cookie.

    GET  /                the campaigns that the browser's session opens, or the form
    GET  /NAME/           a campaign, or the form
    POST /-/log-in        token, campaign → a session, its cookie
    POST /-/log-out       → no session, no cookie
    GET  /-/FILE          what the pages need

No campaign's name begins with "-".  Links in pages are relative, so that a proxy may put a path before them.  The
files are read once: a running server serves the version with which it started.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import Path
from string import Template
from urllib.parse import parse_qs, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from db.errors import LedgerError
from db.states import NAME
from jobs.farm.guard.access import Access
from jobs.farm.guard.refusals import Refusal, refusing

FOLDER = Path(__file__).parent
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
UNKEPT = {"Cache-Control": "no-store"}
SHARED = "head", "bar"
TOKEN = re.compile(r"[A-Za-z0-9_-]{1,100}")
MAX_FORM, MAX_FIELDS = 4096, 8
WRONG = (
    "No campaign here accepts this token: it is mistyped, revoked or expired. Try again, or ask for another one."
)
NO_LONGER = "Your token is no longer valid: it was revoked or has expired."
NOT_THIS = "Your tokens do not open this campaign, if it exists: each campaign needs its own token."


REFUSALS: Mapping[type[Exception], Refusal] = {
    ClientDisconnect: Refusal(400),  # the client does not receive it, but it is counted
    LedgerError: Refusal(503, {"Retry-After": "2"}, "the ledger does not answer now: load this page again"),
    Exception: Refusal(500, message="the server has an error: its log explains it"),
}


class Documents:
    """The templates and files of the dashboard, as they were when the server started."""

    def __init__(self) -> None:
        contents = {path.name: path.read_bytes() for path in sorted((FOLDER / "static").iterdir())}
        texts = {path.stem: path.read_text("utf-8") for path in sorted((FOLDER / "templates").iterdir())}
        # What pages share is a template too, whose name they contain.
        shared = {name: texts[name].rstrip() for name in SHARED}
        self._templates = {name: Template(text).safe_substitute(shared) for name, text in texts.items()}
        self.assets = {name: (content, TYPES[Path(name).suffix]) for name, content in contents.items()}

    def page(self, name: str, root: str, status: int = 200, **texts: str) -> Response:
        """A page; ``texts`` are shown literally, whatever they contain.

        ``root``: the relative path from the page to the server's first page.
        """
        fields = {field: html.escape(text) for field, text in texts.items()}
        text = Template(self._templates[name]).substitute(fields, root=html.escape(root))
        return HTMLResponse(text, status, UNKEPT)


class Pages:
    """What a browser is answered at the addresses of the dashboard."""

    def __init__(self, access: Access, documents: Documents) -> None:
        self._access, self._documents = access, documents

    def mount(self) -> Mount:
        """The addresses; the last ones of a server, since they take every path of one word."""
        routes = [
            Route("/", self.index),
            Route("/-/log-in", self.log_in, methods=["POST"]),
            Route("/-/log-out", self.log_out, methods=["POST"]),
            Route("/-/{file}", self.asset),
            Route("/{name}", self.short),
            Route("/{name}/", self.campaign),
        ]
        return Mount("/", routes=routes, middleware=[refusing(self._access, REFUSALS, PlainTextResponse)])

    async def index(self, request: Request) -> Response:
        tokens = self._access.of_session(request)
        if not tokens:
            return _again() if _from_elsewhere(request) else self._form("./")
        if await self._access.opened(request, tokens):
            return self._documents.page("index", "./")
        return self._without_session(request, self._form("./", problem=NO_LONGER))

    async def campaign(self, request: Request) -> Response:
        name, tokens = request.path_params["name"], self._access.of_session(request)
        if not NAME.fullmatch(name):
            return PlainTextResponse("there is no such page", 404)
        if not tokens:
            return _again() if _from_elsewhere(request) else self._form("../", name)
        if await self._access.role(request, tokens):
            return self._documents.page("campaign", "../")
        return self._form("../", name, NOT_THIS)

    async def short(self, request: Request) -> Response:
        """The address that workers use: it redirects a browser to the page."""
        name = request.path_params["name"]
        if not NAME.fullmatch(name):
            return PlainTextResponse("there is no such page", 404)
        return _to(f"{name}/")

    async def log_in(self, request: Request) -> Response:
        if not _from_here(request):
            return PlainTextResponse("this form was sent by another site", 403)
        fields = await _fields(request)
        if fields is None:
            return PlainTextResponse("this form is too large", 413)
        token, name = fields.get("token", "").strip(), fields.get("campaign", "")
        name = name if NAME.fullmatch(name) else ""
        opened = await self._access.log_in(request, token) if TOKEN.fullmatch(token) else []
        if not opened:
            return self._form("../", name, WRONG, 403)
        kept = [other for other in self._access.of_session(request) if other != token]
        goal = name if name in opened else opened[0] if len(opened) == 1 and not kept else ""
        answer = _to(f"../{goal}/" if goal else "../")
        self._access.begin_session(request, answer, [token, *kept])
        return answer

    async def log_out(self, request: Request) -> Response:
        if not _from_here(request):
            return PlainTextResponse("this form was sent by another site", 403)
        return self._without_session(request, _to("../"))

    async def asset(self, request: Request) -> Response:
        asset = self._documents.assets.get(request.path_params["file"])
        if asset is None:
            return PlainTextResponse("there is no such file", 404)
        content, media_type = asset
        return Response(content, headers={"Cache-Control": "no-cache"}, media_type=media_type)

    def _form(self, root: str, campaign: str = "", problem: str = "", status: int = 200) -> Response:
        heading = f"Campaign {campaign}" if campaign else "Campaigns"
        return self._documents.page("log-in", root, status, campaign=campaign, heading=heading, problem=problem)

    def _without_session(self, request: Request, answer: Response) -> Response:
        self._access.end_session(request, answer)
        return answer


async def _fields(request: Request) -> dict[str, str] | None:
    """None when the form is too large."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM:
            return None
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=MAX_FIELDS)
    except ValueError:
        return None
    return {name: values[0] for name, values in fields.items()}


def _from_here(request: Request) -> bool:
    """Whether a form was sent by a page of this server, or by no browser."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        return site == "same-origin"
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _from_elsewhere(request: Request) -> bool:
    """Whether the user followed a link of another site: the browser withholds the cookie then."""
    return request.headers.get("sec-fetch-site") == "cross-site"


def _again() -> Response:
    """A page that loads itself again: this time the request comes from this site, with the cookie."""
    text = '<!doctype html><html lang="en"><meta http-equiv="refresh" content="0"><title>Langford</title>'
    return Response(text, 200, UNKEPT, "text/html")


def _to(where: str) -> Response:
    return Response(status_code=303, headers=UNKEPT | {"Location": where})
