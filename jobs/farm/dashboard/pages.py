"""The pages of the dashboard, and the form by which a browser gets its cookie.

    GET  /                the campaigns that the browser's tokens open, or the form
    GET  /NAME/           a campaign, or the form
    POST /-/log-in        token, campaign → a cookie
    POST /-/log-out       → no cookie
    GET  /-/FILE          what the pages need

No campaign's name begins with "-".  Addresses in pages are relative, for proxies that put a path before them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from db.errors import LedgerError
from db.names import NAME
from jobs.farm.dashboard.documents import HEADERS, Documents
from jobs.farm.guard import cookie
from jobs.farm.guard.access import Access, TooManyRequests

LARGEST_FORM, MOST_FIELDS = 4096, 8
WRONG = "This token opens no campaign here: it is mistyped, revoked or expired. Try again, or ask for another one."
NO_LONGER = "Your token opens nothing here any more: it was revoked, or has expired."
NOT_THIS = "Your tokens do not open this campaign, if there is one of this name: it needs one of its own."

Answer = Callable[[Request], Awaitable[Response]]


def routes(access: Access, documents: Documents) -> list[BaseRoute]:
    """The routes of the dashboard; the last ones of a server, since they take every path of one word."""

    def form(root: str, campaign: str = "", problem: str = "", status: int = 200) -> Response:
        heading = f"Campaign {campaign}" if campaign else "Campaigns"
        return documents.page("log-in", root, status, campaign=campaign, heading=heading, problem=problem)

    async def index(request: Request) -> Response:
        if not access.cookies(request):
            return _again() if _from_elsewhere(request) else form("./")
        if await access.opened(request, access.cookies(request)):
            return documents.page("index", "./")
        return _without_cookie(access, request, form("./", problem=NO_LONGER))

    async def campaign(request: Request) -> Response:
        name, tokens = request.path_params["name"], access.cookies(request)
        if not NAME.fullmatch(name):
            return _text("there is no such page", 404)
        if not tokens:
            return _again() if _from_elsewhere(request) else form("../", name)
        if await access.role(request, name, tokens):
            return documents.page("campaign", "../")
        return form("../", name, NOT_THIS)

    async def short(request: Request) -> Response:
        """The address that workers use leads to the page too."""
        name = request.path_params["name"]
        if not NAME.fullmatch(name):
            return _text("there is no such page", 404)
        return _to(f"{name}/")

    async def log_in(request: Request) -> Response:
        if not _from_here(request):
            return _text("this form was sent by another site", 403)
        fields = await _form(request)
        if fields is None:
            return _text("this form is too large", 413)
        token, name = fields.get("token", "").strip(), fields.get("campaign", "")
        name = name if NAME.fullmatch(name) else ""
        opened = await access.opened(request, [token]) if cookie.TOKEN.fullmatch(token) else []
        if not opened:
            return form("../", name, WRONG, 403)
        kept = [other for other in access.cookies(request) if other != token]
        goal = name if name in opened else opened[0] if len(opened) == 1 and not kept else ""
        answer = _to(f"../{goal}/" if goal else "../")
        cookie.write(request, answer, [token, *kept], access.encrypted(request))
        return answer

    async def log_out(request: Request) -> Response:
        if not _from_here(request):
            return _text("this form was sent by another site", 403)
        return _without_cookie(access, request, _to("../"))

    async def asset(request: Request) -> Response:
        known = documents.assets.get(request.path_params["file"])
        if known is None:
            return _text("there is no such file", 404)
        return known.answer(request.headers.get("if-none-match", ""))

    def guarded(answer: Answer) -> Answer:
        async def respond(request: Request) -> Response:
            try:
                return await answer(request)
            except TooManyRequests as error:  # more tokens than requests are left
                return _text(str(error), 429, {"Retry-After": f"{error.seconds:.2f}"})
            except ClientDisconnect:
                return Response(status_code=400)  # nobody hears it
            except LedgerError as error:
                access.log.say(access.address(request), f"a page: {error}")
                return _text("the ledger does not answer now: load this page again", 503, {"Retry-After": "2"})
            except Exception as error:
                access.log.say(access.address(request), "a page", error)
                return _text("the server has an error: its log explains it", 500)

        return respond

    return [
        Mount(
            "/",
            routes=[
                Route("/", guarded(index)),
                Route("/-/log-in", guarded(log_in), methods=["POST"]),
                Route("/-/log-out", guarded(log_out), methods=["POST"]),
                Route("/-/{file}", guarded(asset)),
                Route("/{name}", guarded(short)),
                Route("/{name}/", guarded(campaign)),
            ],
        )
    ]


async def _form(request: Request) -> dict[str, str] | None:
    """The fields of a form; None when it is too large."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            return None
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS)
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
    """Whether somebody followed a link of another site: the browser withholds the cookie then."""
    return request.headers.get("sec-fetch-site") == "cross-site"


def _again() -> Response:
    """A page that loads itself again, and is asked by this site then."""
    text = '<!doctype html><html lang="en"><meta http-equiv="refresh" content="0"><title>Langford</title>'
    return Response(text, 200, HEADERS | {"Cache-Control": "no-store"}, "text/html")


def _to(where: str) -> Response:
    return Response(status_code=303, headers=HEADERS | {"Location": where, "Cache-Control": "no-store"})


def _text(words: str, status: int, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(words, status, HEADERS | (headers or {}))


def _without_cookie(access: Access, request: Request, answer: Response) -> Response:
    cookie.write(request, answer, [], access.encrypted(request))
    return answer
