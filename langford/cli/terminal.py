"""Text of strangers on a terminal: no character of it moves the cursor, colours anything or starts a line."""

from __future__ import annotations


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
