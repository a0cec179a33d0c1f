"""The site of the pages: what is generated, where it is found, and that nothing is fetched from elsewhere."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from docs.scripts import examples, fetched, outside
from tests.support.browsers import browser

__all__ = ["browser"]

ROOT = Path(__file__).parents[2]
GENERATED = {"index.md", "python.md", "examples.md", "ledger.md"}
NAVIGATION = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<script src="https://cdn.example/a.js"></script>', ["https://cdn.example/a.js"]),
        ("<link rel=stylesheet href=//fonts.example/css>", ["//fonts.example/css"]),
        ("@font-face { src: url(https://example/a.woff2) }", ["https://example/a.woff2"]),
        ('@import "https://example/a.css";', ["https://example/a.css"]),
        ('<script src="assets/a.js"></script><img src="data:image/png;base64,//8=">', []),
        ('<a href="https://oeis.org/A014552">A014552</a>', []),
    ],
)
def test_what_a_browser_would_fetch(text: str, found: list[str]) -> None:
    assert list(fetched.addresses(text)) == found


def test_a_link_that_leaves_the_site_is_text() -> None:
    assert doctest.testmod(outside) == (0, 2)


@pytest.mark.parametrize(
    ("shown", "copied"),
    [
        ("$ langford count 8\nL(2,8) = 150\n...\n$ echo $?\n0", "langford count 8\necho $?"),
        ("$ langford slurm keep l24 \\\n    --time 20m\n#!/bin/bash", "langford slurm keep l24 \\\n    --time 20m"),
        (">>> for n in 3, 4:\n...     print(n)\n3\n4\n>>> n\n4", "for n in 3, 4:\n    print(n)\nn"),
    ],
)
def test_the_copy_button_takes_what_is_typed(browser: Browser, shown: str, copied: str) -> None:
    page = browser.new_page()
    page.add_script_tag(path=ROOT / "docs" / "copy.js")
    assert page.evaluate("text => typed(text)", shown) == copied
    page.close()


def test_every_page_is_in_the_navigation_once() -> None:
    listed = re.findall(r": ([\w-]+\.md)$", NAVIGATION, re.MULTILINE)
    assert sorted(listed) == sorted({file.name for file in (ROOT / "docs").glob("*.md")} | GENERATED)


def test_ci_builds_the_site_with_warnings_as_errors() -> None:
    [build] = re.findall(r"mkdocs build[^&]*", (ROOT / ".ci" / "run").read_text())
    assert "--strict" in build
    assert "--quiet" not in build, "mkdocs does not count what it does not say"


def test_the_page_of_examples_shows_all_of_them() -> None:
    page = examples.page()
    for file in (ROOT / "docs" / "examples").iterdir():
        if file.is_file():
            assert file.read_text() in page
