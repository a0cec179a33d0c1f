"""The pages of the dashboard in a real browser, with statuses that no campaign of a test would reach."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from db.states import Role
from jobs.farm.api.clients import Admitted, Clients
from jobs.farm.dashboard import pages
from jobs.farm.guard.access import Access
from tests.support import statuses
from tests.support.browsers import WIDTHS, Tab, browser, tab
from tests.support.campaigns import KEY, PLAN
from tests.support.databases import new_ledger

__all__ = ["browser"]

SAMPLES = {
    "hostile": statuses.hostile(),
    "langford-31": statuses.running(),
}
WORKERS, TIMELINE = "[aria-labelledby=workers-title]", "[aria-labelledby=timeline-title]"
"""The sections in which something is done."""
FEW_WORKERS = "document.querySelectorAll('#workers-rows tr:nth-child(n + 25)').forEach((row) => row.remove())"
"""The others are like the first ones, and are shown again by the next status."""


class Site:
    """The real pages, before an API that says the samples.

    Attributes:
        cookies: of a browser that has logged in to all campaigns.
    """

    def __init__(self, folder: Path) -> None:
        self.ledger = new_ledger("sqlite", folder)
        campaigns = {name: self.ledger.create_campaign(name, KEY, PLAN.work.tolist()) for name in SAMPLES}
        self.tokens = {name: campaign.operator.new_token(Role.READER) for name, campaign in campaigns.items()}
        self.computed = Counter[str]()
        clients = Clients()
        self.access = Access(self.ledger, campaigns, clients)
        admitted = Middleware(Admitted, access=self.access, clients=clients, paths={})
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        api = [Route("/campaigns", self._index), Route("/campaigns/{name}/status", self._status)]
        application = Starlette(
            routes=[*api, pages.Pages(self.access, pages.Documents()).mount()], middleware=[admitted]
        )
        config = uvicorn.Config(application, log_level="error", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]})
        self._thread.start()
        with httpx.Client(base_url=self.url) as visitor:
            for token in self.tokens.values():
                assert visitor.post("/-/log-in", data={"token": token}).status_code == 303
            self.cookies = [
                {"name": name, "value": value, "url": self.url} for name, value in visitor.cookies.items()
            ]

    async def _index(self, request: Request) -> Response:
        names = await self.access.opened(request, self.access.tokens(request))
        fields = ("campaign", "problem", "title", "tasks", "finished")
        return JSONResponse(
            [{field: SAMPLES[name][field] for field in fields} | {"campaign": name} for name in names]
        )

    async def _status(self, request: Request) -> Response:
        """The sample, with something new in it that no page shows."""
        name = request.path_params["name"]
        assert await self.access.role(request, self.access.tokens(request))
        self.computed[name] += 1
        return JSONResponse(SAMPLES[name] | {"attempts": {"done": self.computed[name]}})

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
        one.page.context.add_cookies(site.cookies)
        one.page.goto(f"{site.url}/{name}/")
        expect(one.page.locator("#link-text")).to_have_text("live")
        yield one


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["hostile", "langford-31"])
def test_every_page_fits_and_can_be_read(site: Site, browser: Browser, name: str) -> None:
    """In windows of all widths, the last one in the dark."""
    with opened(site, browser, name, WIDTHS[0]) as one:
        for width in WIDTHS:
            scheme = "dark" if width == WIDTHS[-1] else "light"
            one.page.set_viewport_size({"width": width, "height": 900})
            one.page.emulate_media(color_scheme=scheme)
            one.picture(f"{name}-{width}-{scheme}")
            assert one.fits(), width
            if width in (WIDTHS[0], WIDTHS[-1]):
                one.page.evaluate(FEW_WORKERS)
                assert one.obstacles() == [], width
        assert one.errors == []
        assert one.elsewhere == []


def test_hostile_texts_stay_texts(site: Site, browser: Browser) -> None:
    with opened(site, browser, "hostile") as one:
        page = one.page
        assert page.locator("main img, main script, main table table").count() == 0
        assert "owned" not in page.title()
        shown = page.locator("#workers-rows th .shown").all_inner_texts()
        assert statuses.HOSTILE in shown
        assert "\ufffdevil" in shown, "a character that turns the text around is replaced"
        assert statuses.HOSTILE in page.locator("#warnings").inner_text()
        assert statuses.HOSTILE in page.locator("#log").inner_text()


@pytest.mark.exhaustive
def test_all_workers_are_shown_and_the_timeline_is_read(site: Site, browser: Browser) -> None:
    with opened(site, browser, "langford-31", scheme="dark") as one:
        page = one.page
        sample = SAMPLES["langford-31"]
        expect(page.locator("#workers-rows .host .shown")).to_have_text(
            [worker["host"] for worker in sample["workers"]]
        )
        page.evaluate(FEW_WORKERS)
        assert one.obstacles(within=WORKERS) == [], "in the first rows, which are like the others"
        last, most = sample["timeline"][-1][1], max(occupied for _, occupied in sample["timeline"])
        expect(page.locator("#timeline-reading")).to_have_text(f"{last} now · at most {most}")
        page.get_by_text("As a table").click()
        expect(page.locator("#timeline-rows tr")).to_have_count(len(sample["timeline"]))
        expect(page.locator("#timeline-rows td.number").first).to_have_text(str(last))
        one.picture("timeline-table")
        page.evaluate("document.querySelectorAll('#timeline-rows tr + tr + tr').forEach((row) => row.remove())")
        assert one.obstacles(within=TIMELINE) == [], "in the first rows, which are like the others"


@pytest.mark.exhaustive
def test_only_what_changes_is_written(site: Site, browser: Browser) -> None:
    """A selection, and what a screen reader reads, outlast a status that says the same."""
    watch = (
        "() => { window.changes = 0; new MutationObserver((all) => "
        "{ window.changes += all.filter((one) => !one.target.closest?.('#plot')).length; }).observe("
        "document.querySelector('main'), {subtree: true, childList: true, characterData: true}); }"
    )
    with opened(site, browser, "langford-31") as one:
        statuses_seen = []
        one.page.on("request", lambda request: statuses_seen.append(request.url))
        one.page.evaluate(watch)
        before = site.computed["langford-31"]
        while site.computed["langford-31"] < before + 3:
            one.page.wait_for_timeout(500)
        assert one.page.evaluate("window.changes") == 0
        assert {url.rpartition("/")[2] for url in statuses_seen} == {"status"}
