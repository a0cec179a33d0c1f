"""The site of the pages: what is generated, where it is found, and that nothing is fetched from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.scripts import examples, fetched

ROOT = Path(__file__).parents[2]
GENERATED = {"commands.md", "python.md", "examples.md"}
NAVIGATION = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<script src="https://cdn.example/a.js"></script>', ["https://cdn.example/a.js"]),
        ("<link rel=stylesheet href=//fonts.example/css>", ["//fonts.example/css"]),
        ("<img alt='' src='http://example/a.png'>", ["http://example/a.png"]),
        ("@font-face { src: url(https://example/a.woff2) }", ["https://example/a.woff2"]),
        ('@import "https://example/a.css";', ["https://example/a.css"]),
        ('<script src="assets/a.js"></script><img src="data:image/png;base64,//8=">', []),
        ('<a href="https://oeis.org/A014552">A014552</a>', []),
        ('<link rel="canonical" href="https://example/">', []),
    ],
)
def test_what_a_browser_would_fetch(text: str, found: list[str]) -> None:
    assert list(fetched.addresses(text)) == found


def test_every_page_is_in_the_navigation_once() -> None:
    listed = re.findall(r": ([\w-]+\.md)$", NAVIGATION, re.MULTILINE)
    assert sorted(listed) == sorted({file.name for file in (ROOT / "docs").glob("*.md")} | GENERATED)


def test_ci_builds_the_site_with_warnings_as_errors() -> None:
    assert re.search(r"mkdocs build .*--strict", (ROOT / ".ci" / "run").read_text())


def test_the_page_of_examples_shows_all_of_them() -> None:
    page = examples.page()
    for file in (ROOT / "docs" / "examples").iterdir():
        if file.is_file():
            assert file.read_text() in page
