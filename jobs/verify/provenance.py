"""Read the provenance of a result, which is untrusted text."""

from __future__ import annotations

import json
import re
from typing import Any

LONGEST = 200
"""The maximum number of characters of each text that are kept."""


def provenance(text: str) -> dict[str, str]:
    """The provenance of a result as short texts by name; empty if it cannot be read.

    >>> provenance('{"device": "cpu", "host": ""}'), provenance("[" * 4000)
    ({'device': 'cpu'}, {})
    """
    try:
        document: Any = json.loads(text)
        if not isinstance(document, dict):
            return {}
        return {
            str(name)[:LONGEST]: str(value)[:LONGEST] for name, value in sorted(document.items()) if value != ""
        }
    except (ValueError, RecursionError):
        return {}


def device(text: str) -> tuple[str, str]:
    """(which of its host, model) of a device as a provenance names it.

    >>> device("cuda:1 NVIDIA H200"), device("cpu")
    (('cuda:1', 'NVIDIA H200'), ('cpu', 'cpu'))
    """
    named = re.fullmatch(r"(cuda:\d{1,4}|cpu) (.+)", text, re.DOTALL)
    return (named[1], named[2]) if named else (text, text)
