"""What somebody sees in a real browser: of a real farm, and of statuses that no farm of a test has."""

from __future__ import annotations

import re
import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from db.states import Role
from jobs.farm import dashboard
from jobs.farm.api.clients import Admitted, Clients
from jobs.farm.dashboard import pages
from jobs.farm.guard.access import Access
from langford.methods import plan_of
from tests.support import statuses
from tests.support.browsers import WIDTHS, Tab, browser, tab
from tests.support.campaigns import KEY, PLAN
from tests.support.databases import new_ledger
from tests.support.farm import CAMPAIGN, COUNT, NAME, Farm, slowed

__all__ = ["browser"]

PATIENCE = 60_000
STATIC = Path(dashboard.__file__).parent / "static"
EVERY, EVERY_HIDDEN, MAX_SILENCE = (
    int(re.findall(rf"{name} = (\d+)", (STATIC / "connection.js").read_text())[0])
    for name in ("EVERY", "EVERY_HIDDEN", "MAX_SILENCE")
)
"""Milliseconds between two questions of the page, of one in the background, and until it gives a question up."""


class WatchedFarm(Farm):
    """A farm, with a token to watch it."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def reader(self) -> str:
        return self.campaign.operator.new_token(Role.READER, label="dashboard")

    def restart(self) -> None:
        self.server.kill()
        self.server.wait()
        self.server = self.serve()


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[WatchedFarm]:
    made = WatchedFarm(tmp_path, CAMPAIGN)
    yield made
    made.stop()


def log_in(page: Page, url: str, token: str) -> None:
    page.goto(url)
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Log in").click()


def live(page: Page) -> None:
    expect(page.locator("#link-text")).to_have_text("live", timeout=PATIENCE)


@pytest.mark.exhaustive
def test_a_campaign_from_its_start_to_its_count(farm: WatchedFarm, browser: Browser) -> None:
    with tab(browser) as watching:
        page = watching.page
        log_in(page, farm.url, farm.reader())
        expect(page.get_by_role("heading", level=1)).to_have_text(NAME)
        assert page.url == f"{farm.url}{NAME}/"
        live(page)
        expect(page.get_by_text("No worker has come yet.")).to_be_visible()
        watching.picture("real-start")
        long_enough = slowed(farm.folder, 1.0)
        workers = [farm.work(outbox=f"outbox-{number}", **long_enough) for number in range(2)]
        expect(page.locator("#workers-rows tr")).to_have_count(2, timeout=PATIENCE)
        expect(page.locator("#workers-rows tr[data-state=working]").first).to_be_visible(timeout=PATIENCE)
        expect(page.locator("#share")).not_to_have_text("0.00", timeout=PATIENCE)
        expect(page.locator("#share")).not_to_have_text(page.locator("#share").inner_text(), timeout=PATIENCE)
        assert page.locator("#plot path.curve").count() == 1
        watching.picture("real-running")
        farm.finish(*workers)
        expect(page.locator("#count")).to_have_text(f"{COUNT:,}", timeout=PATIENCE)
        expect(page.locator("#agrees")).to_have_text("as published")
        expect(page.locator("#eta")).to_have_text("Done")
        expect(page.locator("#share")).to_have_text("100.00")
        page.get_by_text("Why do they wait?").click()
        expect(page.locator("#why li")).to_have_text(["no worker that is present is without tasks"])
        page.get_by_label("Task", exact=True).fill("0")
        page.keyboard.press("Enter")
        expect(page.locator("#why li")).to_have_text(re.compile("^done by .*, not drawn$"))
        watching.picture("real-done")
        assert watching.fits()
        assert watching.errors == []
        assert watching.elsewhere == []


TURN = (
    "(hidden) => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true}); "
    "document.dispatchEvent(new Event('visibilitychange')); }"
)
NOTE_PAUSES = (
    "() => { const real = window.setTimeout; window.pauses = []; "
    "window.setTimeout = (call, pause) => { window.pauses.push(pause); return real(call, pause); }; }"
)


@pytest.mark.exhaustive
def test_a_page_outlasts_the_server_and_asks_rarely_in_the_background(farm: WatchedFarm, browser: Browser) -> None:
    with tab(browser) as watching:
        page = watching.page
        log_in(page, farm.url, farm.reader())
        live(page)
        page.evaluate(NOTE_PAUSES)
        page.evaluate(TURN, True)
        while EVERY_HIDDEN not in page.evaluate("window.pauses"):
            page.wait_for_timeout(50)
        with page.expect_response("**/status"):
            page.evaluate(TURN, False)
        while page.evaluate("window.pauses").count(EVERY) < 2:
            page.wait_for_timeout(50)
        farm.server.kill()
        farm.server.wait()
        banner = page.locator("#banner")
        since = re.compile(r"^Not connected since \d\d:\d\d:\d\d\. Trying again")
        expect(banner).to_have_text(since, timeout=PATIENCE)
        expect(page.locator("#link-text")).to_have_text("not connected")
        expect(page.locator("#announcement")).to_have_text("Not connected")
        watching.picture("real-lost")
        assert watching.obstacles(within="#banner") == []
        farm.server = farm.serve()
        # Sessions end with the server: the page shows the form, and leads back to where it was.
        token = page.locator("#token")
        expect(token).to_be_visible(timeout=PATIENCE)
        token.fill(farm.reader())
        token.press("Enter")
        live(page)
        expect(page.locator("#banner")).to_be_hidden()
        assert page.url == f"{farm.url}{NAME}/"
        farm.campaign.operator.revoke()
        expect(token).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_role("alert")).to_contain_text("do not open this campaign")
        unexpected = [error for error in watching.errors if not re.search("net::ERR|401|403", error)]
        assert unexpected == []


def test_a_server_that_says_nothing_for_a_while_and_a_log_out(farm: WatchedFarm, browser: Browser) -> None:
    """As a computer sees it that was asleep, or where the network is cut: the connection stays open."""
    with tab(browser) as watching:
        page = watching.page
        page.clock.install()
        log_in(page, farm.url, farm.reader())
        live(page)
        farm.server.send_signal(signal.SIGSTOP)
        with page.expect_request("**/status"):
            page.clock.fast_forward(EVERY)
        page.clock.fast_forward(MAX_SILENCE)
        expect(page.locator("#link-text")).to_have_text("not connected", timeout=PATIENCE)
        farm.server.send_signal(signal.SIGCONT)
        live(page)
        other = page.context.new_page()
        other.goto(f"{farm.url}{NAME}/")
        live(other)
        page.get_by_role("button", name="Log out").click()
        for each in (page, other):
            expect(each.get_by_label("Token")).to_be_visible(timeout=PATIENCE)
        assert page.context.cookies() == []


@pytest.mark.exhaustive
def test_the_index_and_the_form_by_keyboard(farm: WatchedFarm, browser: Browser) -> None:
    """Two campaigns, each with a token of its own."""

    def can_be_read(name: str) -> None:
        for width, scheme in ((360, "light"), (1440, "dark")):
            watching.page.set_viewport_size({"width": width, "height": 900})
            watching.page.emulate_media(color_scheme=scheme)
            watching.picture(f"{name}-{width}-{scheme}")
            assert watching.fits()
            assert watching.obstacles() == []

    second = farm.ledger.create_campaign("second", CAMPAIGN, plan_of(CAMPAIGN).work.tolist())
    farm.server.kill()
    farm.server.wait()
    farm.server = farm.serve("second")
    with tab(browser) as watching:
        page = watching.page
        page.goto(f"{farm.url}{NAME}/")
        expect(page.get_by_label("Token")).to_be_focused()
        page.keyboard.type("wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("No campaign here accepts this token")
        expect(page.get_by_label("Token")).to_be_focused()
        can_be_read("log-in-wrong")
        page.keyboard.type(farm.reader())
        page.keyboard.press("Enter")
        live(page)
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the figures")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("main")).to_be_focused()
        page.keyboard.press("Shift+Tab")
        expect(page.get_by_role("button", name="Log out")).to_be_focused()
        page.goto(farm.url)
        expect(page.locator("#campaigns li")).to_have_count(1)
        expect(page.locator("#campaigns li")).to_contain_text(str(CAMPAIGN.problem))
        page.get_by_text("Open another campaign").click()
        page.get_by_label("Token").fill(second.operator.new_token(Role.READER))
        page.get_by_role("button", name="Open").click()
        expect(page.locator("#campaigns li")).to_have_count(2)
        live(page)
        can_be_read("index")
        page.get_by_role("link", name="second").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("second")
        expect(page.locator("#plan")).to_contain_text(f"{CAMPAIGN.problem} by ")
        live(page)
        page.get_by_role("link", name="Campaigns").click()
        expect(page.locator("#campaigns li")).to_have_count(2)
        assert [error for error in watching.errors if "403" not in error] == []


# -- statuses that no farm of a test has --------------------------------------------------------------

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
