"""Links from the pages to files that are not part of the site, and the README as its first page."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"

LINK = re.compile(r"\[([^\]]+)\]\(\.\./([^)\s#]+)(?:#[^)\s]*)?\)")


PAGE_OF = {
    "scripts/ledger_dictionary.py": "ledger.md",
    "scripts/sample_report.py": "report-langford-28.html",
}
"""Scripts to which the pages link, because in the repository there is no page of what they make for the site."""


def of_the_site(markdown: str) -> str:
    """The page as the site has it.

    >>> of_the_site("[the ledger](scripts/ledger_dictionary.py#a-role-that-works), [a plan](../db/states.py)")
    '[the ledger](ledger.md#a-role-that-works), a plan (`db/states.py`)'
    """
    for script, page in PAGE_OF.items():
        markdown = markdown.replace(f"]({script}", f"]({page}")
    return as_text(markdown)


def as_text(markdown: str) -> str:
    """The page with each link to a file outside of docs as text: there the site has no page.

    >>> as_text("see [figures](../benchmarks/farm.md) and [benchmarks/farm.md](../benchmarks/farm.md)")
    'see figures (`benchmarks/farm.md`) and `benchmarks/farm.md`'
    """
    return LINK.sub(lambda link: f"`{link[2]}`" if link[1] == link[2] else f"{link[1]} (`{link[2]}`)", markdown)


def start() -> str:
    """The README, with links as the pages of docs/ write them."""
    return re.sub(r"\]\((?!docs/|\w+:)", "](../", README.read_text()).replace("](docs/", "](")
