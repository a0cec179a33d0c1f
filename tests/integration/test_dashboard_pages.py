"""The pages of the dashboard in a real browser, with statuses that no campaign of a test would reach."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from db import Ledger
from db.states import Role
from jobs.dashboard import pages
from jobs.dashboard.documents import Documents
from jobs.farm.access import Access, RateLimit
from jobs.farm.connections import Connections, LimitedLog
from jobs.farm.streams import Streams
from tests import statuses
from tests.browsers import WIDTHS, Tab, browser, tab
from tests.campaigns import KEY, PLAN

__all__ = ["browser"]

SAMPLES = {
    "hostile": statuses.hostile(),
    "langford-31": statuses.running(),
    "new": statuses.starting(),
    "twenty-eight": statuses.finished(),
}


class Site:
    """The real pages, before an API that says the samples."""

    def __init__(self, folder: Path) -> None:
        self.ledger = Ledger(str(folder / "ledger.db"), create=True)
        campaigns = {name: self.ledger.create_campaign(name, KEY, PLAN.work.tolist()) for name in SAMPLES}
        self.tokens = {name: campaign.new_token(Role.READER) for name, campaign in campaigns.items()}
        log, self.documents = LimitedLog(), Documents()
        self.access, self.streams = Access(campaigns, RateLimit(), Connections(), log), Streams(log)
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        api = [Route("/campaigns", self._index), Route("/campaigns/{name}/stream", self._stream)]
        application = Starlette(routes=[*api, *pages.routes(self.access, self.documents)])
        config = uvicorn.Config(application, log_level="error", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]})
        self._thread.start()

    async def _index(self, request: Request) -> Response:
        names = await self.access.opened(request, self.access.tokens(request))
        fields = ("campaign", "problem", "tasks", "finished")
        return JSONResponse(
            [{field: SAMPLES[name][field] for field in fields} | {"campaign": name} for name in names]
        )

    async def _stream(self, request: Request) -> Response:
        async def allowed() -> bool:
            return True

        name = request.path_params["name"]
        assert await self.access.role(request, name, self.access.tokens(request))
        return await self.streams.answer(name, lambda: SAMPLES[name], allowed, self.documents.version)

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self.ledger.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("site"))
    yield made
    made.close()


@contextmanager
def opened(site: Site, browser: Browser, name: str, width: int = 1440, scheme: str = "light") -> Iterator[Tab]:
    """The page of a campaign, with all its figures."""
    with tab(browser, width, scheme) as one:
        one.page.goto(f"{site.url}/{name}/")
        one.page.get_by_label("Token").fill(site.tokens[name])
        one.page.get_by_role("button", name="Log in").click()
        expect(one.page.locator("#link-text")).to_have_text("live")
        yield one


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SAMPLES)
def test_every_page_fits_and_can_be_read(site: Site, browser: Browser, name: str, width: int, scheme: str) -> None:
    with opened(site, browser, name, width, scheme) as one:
        one.picture(f"{name}-{width}-{scheme}")
        assert one.fits()
        assert one.obstacles() == []
        assert one.errors == []
        assert one.elsewhere == []
