"""A real server, real workers and a real browser: what somebody sees who watches a farm."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Error, Page, expect

from db.states import Role
from jobs.farm import dashboard
from jobs.farm.api.streams import MAX_OF_A_TOKEN
from langford.methods import plan_of
from tests.farm.farm import CAMPAIGN, COUNT, LONG_CAMPAIGN, NAME, Farm, slowed
from tests.support.browsers import browser, tab
from tests.support.cases import exhaustive
from tests.support.ports import free_port

__all__ = ["browser"]

PATIENCE = 60_000
STATIC = Path(dashboard.__file__).parent / "static"
MAX_SILENCE, CROWDED_POLL = (
    int(re.findall(rf"{name} = (\d+)", (STATIC / "connection.js").read_text())[0])
    for name in ("MAX_SILENCE", "CROWDED_POLL")
)
"""Milliseconds after which the page gives up a connection on which nothing comes, and between two looks of a page
that gave way."""


class WatchedFarm(Farm):
    """A farm, with a token to watch it."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def reader(self) -> str:
        return self.campaign.new_token(Role.READER, label="dashboard")

    def restart(self) -> None:
        self.server.kill()
        self.server.wait()
        self.server = self.serve()


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[WatchedFarm]:
    made = WatchedFarm(tmp_path, CAMPAIGN)
    yield made
    made.stop()


@pytest.fixture
def long_farm(tmp_path: Path) -> Iterator[WatchedFarm]:
    made = WatchedFarm(tmp_path, LONG_CAMPAIGN)
    yield made
    made.stop()


def log_in(page: Page, url: str, token: str) -> None:
    page.goto(url)
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Log in").click()


def live(page: Page) -> None:
    expect(page.locator("#link-text")).to_have_text("live", timeout=PATIENCE)


def test_a_campaign_from_its_start_to_its_count(farm: WatchedFarm, browser: Browser) -> None:
    with tab(browser) as watching:
        page = watching.page
        log_in(page, farm.url, farm.reader())
        expect(page.get_by_role("heading", level=1)).to_have_text(NAME)
        assert page.url == f"{farm.url}{NAME}/"
        live(page)
        expect(page.get_by_text("No worker has come yet.")).to_be_visible()
        watching.picture("real-start")
        long_enough = slowed(farm.folder, 3.0)
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
        watching.picture("real-done")
        assert watching.fits()
        assert watching.errors == []
        assert watching.elsewhere == []


def test_a_page_outlasts_the_server(long_farm: WatchedFarm, browser: Browser) -> None:
    farm = long_farm
    with tab(browser) as watching:
        page = watching.page
        log_in(page, farm.url, farm.reader())
        live(page)
        page.evaluate("window.same = true")
        farm.server.kill()
        farm.server.wait()
        banner = page.locator("#banner-text")
        since = re.compile(r"^Not connected since \d\d:\d\d:\d\d\. Trying again")
        expect(banner).to_have_text(since, timeout=PATIENCE)
        expect(page.locator("#link-text")).to_have_text("not connected")
        expect(page.locator("#announcement")).to_have_text("Not connected")
        watching.picture("real-lost")
        assert watching.obstacles(within="#banner") == []
        farm.server = farm.serve()
        live(page)
        expect(page.locator("#banner")).to_be_hidden()
        assert page.evaluate("window.same") is True, "it was loaded again"
        worker = farm.work()
        expect(page.locator("#workers-rows tr")).to_have_count(1, timeout=PATIENCE)
        worker.terminate()
        unexpected = [error for error in watching.errors if "net::ERR" not in error]
        assert unexpected == []


def test_a_server_that_says_nothing_any_more(long_farm: WatchedFarm, browser: Browser) -> None:
    """As a computer sees it that was asleep, or where the network is cut: the connection stays open."""
    with tab(browser) as watching:
        page = watching.page
        page.clock.install()
        log_in(page, long_farm.url, long_farm.reader())
        live(page)
        long_farm.server.send_signal(signal.SIGSTOP)
        page.clock.fast_forward(MAX_SILENCE)
        expect(page.locator("#link-text")).to_have_text("not connected", timeout=PATIENCE)
        long_farm.server.send_signal(signal.SIGCONT)
        live(page)


def test_a_page_in_the_background_holds_no_connection(long_farm: WatchedFarm, browser: Browser) -> None:
    turn = (
        "(hidden) => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true}); "
        "document.dispatchEvent(new Event('visibilitychange')); }"
    )
    with tab(browser) as watching:
        page = watching.page
        log_in(page, long_farm.url, long_farm.reader())
        live(page)
        with page.expect_event("requestfailed", lambda request: request.url.endswith("/stream")):
            page.evaluate(turn, True)
        with page.expect_response(lambda response: response.url.endswith("/stream")):
            page.evaluate(turn, False)
        live(page)
        assert watching.errors == []


def test_a_page_that_gave_way_asks_from_time_to_time(long_farm: WatchedFarm, browser: Browser) -> None:
    """It takes no stream back from the page that has it now."""
    with tab(browser) as watching:
        page = watching.page
        page.clock.install()
        token = long_farm.reader()
        log_in(page, long_farm.url, token)
        live(page)
        begun, ended = list[str](), list[str]()
        for event, noted in (("request", begun), ("requestfinished", ended), ("requestfailed", ended)):
            page.on(event, lambda request, noted=noted: noted.append(request.url.rpartition("/")[2]))
        url, headers = f"{long_farm.url}campaigns/{NAME}/stream", {"Authorization": f"Bearer {token}"}
        with (
            ExitStack() as opened,
            page.expect_response(lambda answer: answer.url.endswith("/status"), timeout=60_000),
        ):
            for _ in range(MAX_OF_A_TOKEN):
                opened.enter_context(httpx.stream("GET", url, headers=headers, timeout=PATIENCE / 1000))
            while "stream" not in ended:
                page.wait_for_timeout(50)
            page.clock.fast_forward(CROWDED_POLL)
        live(page)
        assert "stream" not in begun
        assert watching.errors == []


def test_a_revoked_token_leads_to_the_form(long_farm: WatchedFarm, browser: Browser) -> None:
    farm = long_farm
    with tab(browser) as watching:
        page = watching.page
        log_in(page, farm.url, farm.reader())
        live(page)
        farm.campaign.revoke_tokens()
        expect(page.get_by_label("Token")).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_role("alert")).to_contain_text("do not open this campaign")
        log_in(page, f"{farm.url}{NAME}/", farm.reader())
        live(page)


def test_log_out_reaches_the_other_tabs(long_farm: WatchedFarm, browser: Browser) -> None:
    farm = long_farm
    with tab(browser) as watching:
        page = watching.page
        log_in(page, farm.url, farm.reader())
        live(page)
        other = page.context.new_page()
        other.goto(f"{farm.url}{NAME}/")
        live(other)
        page.get_by_role("button", name="Log out").click()
        for each in (page, other):
            expect(each.get_by_label("Token")).to_be_visible(timeout=PATIENCE)
        assert page.context.cookies() == []


def test_all_by_keyboard(long_farm: WatchedFarm, browser: Browser) -> None:
    farm = long_farm
    with tab(browser, 360) as watching:
        page = watching.page
        page.goto(f"{farm.url}{NAME}/")
        expect(page.get_by_label("Token")).to_be_focused()
        watching.picture("log-in-360-light")
        page.keyboard.type("wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("This token opens no campaign here")
        expect(page.get_by_label("Token")).to_be_focused()
        watching.picture("log-in-wrong-360-light")
        assert watching.obstacles() == []
        page.keyboard.type(farm.reader())
        page.keyboard.press("Enter")
        live(page)
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the figures")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("main")).to_be_focused()
        page.keyboard.press("Shift+Tab")
        expect(page.get_by_role("button", name="Log out")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_label("Token")).to_be_visible()
        assert [error for error in watching.errors if "403" not in error] == []


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), *exhaustive([(1440, "dark")])])
def test_the_index_and_the_form(long_farm: WatchedFarm, browser: Browser, width: int, scheme: str) -> None:
    """Two campaigns, each with a token of its own."""
    farm = long_farm
    second = farm.ledger.create_campaign("second", CAMPAIGN, plan_of(CAMPAIGN).work.tolist())
    farm.server.kill()
    farm.server.wait()
    farm.server = farm.serve("second")
    with tab(browser, width, scheme) as watching:
        page = watching.page
        page.goto(farm.url)
        watching.picture(f"log-in-{width}-{scheme}")
        assert watching.obstacles() == []
        log_in(page, farm.url, farm.reader())
        live(page)
        page.goto(farm.url)
        expect(page.locator("#campaigns li")).to_have_count(1)
        page.get_by_text("Open another campaign").click()
        page.get_by_label("Token").fill(second.new_token(Role.READER))
        page.get_by_role("button", name="Open").click()
        expect(page.locator("#campaigns li")).to_have_count(2)
        live(page)
        watching.picture(f"index-{width}-{scheme}")
        assert watching.fits()
        assert watching.obstacles() == []
        page.get_by_role("link", name="second").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("second")
        live(page)
        page.get_by_role("link", name="Campaigns").click()
        expect(page.locator("#campaigns li")).to_have_count(2)
        assert watching.errors == []


INJECTED = "<img src=x onerror=\"document.title='owned'\">"
SINKS = {
    "an inline handler": "i = document.createElement('img'); i.setAttribute('onerror', 'window.owned = 1'); "
    "i.src = 'nothing'; document.body.append(i)",
    "markup": "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.owned = 1\">')",
    "an inline script": "s = document.createElement('script'); s.append('window.owned = 1'); "
    "document.body.append(s)",
    "a script from elsewhere": "s = document.createElement('script'); s.src = 'http://localhost:1/x.js'; "
    "document.body.append(s)",
}


def test_a_hostile_host_name_is_text(long_farm: WatchedFarm, browser: Browser) -> None:
    farm = long_farm
    farm.ledger.enrol("hostile", INJECTED, "1@2@3", "cpu")
    assert farm.campaign.lease("hostile", 1, 600.0)
    with tab(browser) as watching:
        page = watching.page
        log_in(page, farm.url, farm.reader())
        live(page)
        expect(page.locator("#workers-rows th .shown")).to_have_text(INJECTED, timeout=PATIENCE)
        assert page.locator("main img").count() == 0
        assert "owned" not in page.title()
        assert watching.errors == []


def test_the_policy_holds_if_the_page_should_not(long_farm: WatchedFarm, browser: Browser) -> None:
    with tab(browser) as watching:
        page = watching.page
        log_in(page, long_farm.url, long_farm.reader())
        live(page)
        for sink, script in SINKS.items():
            with suppress(Error):  # some are refused by an exception, some with a line on the console
                page.evaluate(f"() => {{ let i, s; {script} }}")
            assert page.locator("body > img").count() == 0, sink
        page.wait_for_timeout(500)
        assert page.evaluate("window.owned") is None
        page.goto("about:blank")  # where there is no policy
        for script in SINKS.values():
            page.evaluate(f"() => {{ let i, s; window.owned = undefined; {script} }}")
            if "owned" in script:
                page.wait_for_function("window.owned === 1")


@pytest.mark.exhaustive
def test_over_tls(long_farm: WatchedFarm, browser: Browser, tmp_path: Path) -> None:
    farm = long_farm
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    if subprocess.run(["openssl", "req", *options, *files], capture_output=True, check=False).returncode:
        pytest.skip("needs openssl")
    farm.server.kill()
    farm.server.wait()
    farm.port = free_port()
    farm.server = farm.serve("--certificate", str(certificate), "--key", str(key))
    with tab(browser, ignore_https_errors=True) as watching:
        log_in(watching.page, f"https://127.0.0.1:{farm.port}/", farm.reader())
        live(watching.page)
        [cookie] = watching.page.context.cookies()
        assert cookie["name"] == f"__Host-langford-{farm.port}"
        assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "Strict")


@pytest.mark.exhaustive
def test_a_link_from_elsewhere_needs_no_second_log_in(long_farm: WatchedFarm, browser: Browser) -> None:
    """The browser withholds the cookie from a request that another site has caused."""
    farm = long_farm
    with tab(browser) as watching:
        page = watching.page
        log_in(page, farm.url, farm.reader())
        live(page)
        elsewhere = f"http://localhost:{farm.port}/-/icon.svg"
        page.goto(elsewhere)
        page.evaluate(f"location.href = '{farm.url}{NAME}/'")
        live(page)
        expect(page.get_by_role("heading", level=1)).to_have_text(NAME)
