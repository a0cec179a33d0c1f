"""A real browser for tests of pages, without a window: Chromium, as the system has it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

# The shell has no window of its own to draw: half of the processor's time.
PROGRAMS = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = (360, 768, 1440)
SCREENSHOTS = os.environ.get("LANGFORD_SCREENSHOTS")
"""A folder that keeps pictures of the pages, if it is set."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser of one module: while Playwright runs, no other test of this process can have an event loop."""
    if CHROMIUM is None:
        pytest.skip("NO PAGE IS TESTED: there is no Chromium here: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield started
        started.close()


class Tab:
    """A page of a browser of its own, without cookies, that notes what goes wrong in it.

    Attributes:
        page: to do and see something.
        errors: what its console said is wrong.
        elsewhere: addresses outside of this machine that it asked.
    """

    def __init__(self, page: Page) -> None:
        self.page, self.errors, self.elsewhere = page, list[str](), list[str]()
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self._note(request.url))

    def _note(self, url: str) -> None:
        if not re.match(r"https?://(127\.0\.0\.1|localhost)[:/]", url):
            self.elsewhere.append(url)

    def picture(self, name: str) -> None:
        """Keep a picture of the whole page."""
        if SCREENSHOTS:
            Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)

    def fits(self) -> bool:
        """Whether nothing is wider than the window."""
        widths = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        wanted, there = self.page.evaluate(widths)
        return bool(wanted <= there)

    def obstacles(self, within: str | None = None) -> list[str]:
        """What keeps people from using the page, as far as axe sees it and calls it serious.

        ``within`` selects the part of the page that is checked; None: all of it.
        """
        found = Axe().run(self.page, within).response["violations"]
        return [
            f"{rule['id']}: {node['html']:.200} {node['failureSummary']}"
            for rule in found
            if rule["impact"] in ("serious", "critical")
            for node in rule["nodes"]
        ]


@contextmanager
def tab(browser: Browser, width: int = 1440, scheme: str = "light", **options: object) -> Iterator[Tab]:
    """A new tab with a window of that width in CSS pixels; ``scheme`` is "light" or "dark"."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        reduced_motion="reduce",
        service_workers="block",
        **options,  # type: ignore[arg-type]
    )
    try:
        yield Tab(context.new_page())
    finally:
        context.close()
