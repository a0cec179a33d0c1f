"""Text of strangers on a terminal: no character of it moves the cursor, colours anything or starts a line."""

from __future__ import annotations

import sys
from contextlib import suppress


def plain(text: str) -> str:
    r"""The text with every character that is not printed written as an escape.

    >>> print(plain("red: \x1b[31m, a new line:\n, half a character: \ud800"))
    red: \x1b[31m, a new line:\n, half a character: \ud800
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def say(message: str) -> None:
    """Print a remark on standard error; where that takes no more, the command goes on, and ends as it would."""
    with suppress(OSError):
        print(plain(message), file=sys.stderr, flush=True)
