"""Links from the pages to files that are not part of the site, and the README as its first page."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"

LINK = re.compile(r"\[([^\]]+)\]\(\.\./([^)\s#]+)(?:#[^)\s]*)?\)")


def as_text(markdown: str) -> str:
    """The page with each link to a file outside of docs as text: there the site has no page.

    >>> as_text("see [figures](../benchmarks/farm.md) and [benchmarks/farm.md](../benchmarks/farm.md)")
    'see figures (`benchmarks/farm.md`) and `benchmarks/farm.md`'
    """
    return LINK.sub(lambda link: f"`{link[2]}`" if link[1] == link[2] else f"{link[1]} (`{link[2]}`)", markdown)


def start() -> str:
    """The README, with links as the pages of docs/ write them."""
    return re.sub(r"\]\((?!docs/|\w+:)", "](../", README.read_text()).replace("](docs/", "](")
