"""Links from the pages to files that are no part of the site."""

from __future__ import annotations

import re

LINK = re.compile(r"\[([^\]]+)\]\(\.\./([^)\s#]+)(?:#[^)\s]*)?\)")


def as_text(markdown: str) -> str:
    """The page with each link to a file outside of docs as text: there the site has no page.

    >>> as_text("see [figures](../benchmarks/farm.md) and [benchmarks/farm.md](../benchmarks/farm.md)")
    'see figures (`benchmarks/farm.md`) and `benchmarks/farm.md`'
    """
    return LINK.sub(lambda link: f"`{link[2]}`" if link[1] == link[2] else f"{link[1]} (`{link[2]}`)", markdown)
