"""What a page of the site makes a browser fetch from other machines."""

from __future__ import annotations

import re
from collections.abc import Iterator

TAG = re.compile(r"<(?:script|link|img|iframe|source|object|embed)\b[^>]*>", re.IGNORECASE)
ADDRESS = re.compile(r"\b(?:src|href|data|srcset)\s*=\s*[\"']?((?:https?:)?//[^\s\"'>]+)", re.IGNORECASE)
STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\s\"')]+)", re.IGNORECASE)
HARMLESS = re.compile(r"\brel=[\"']?(?:canonical|license|me)\b", re.IGNORECASE)


def addresses(text: str) -> Iterator[str]:
    """The addresses that a browser fetches by itself to show a page or a style; links are not among them."""
    for tag in TAG.findall(text):
        if not HARMLESS.search(tag):
            yield from ADDRESS.findall(tag)
    yield from STYLE.findall(text)
