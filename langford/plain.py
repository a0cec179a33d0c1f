"""Text of strangers, fit to be shown: no character of it moves a cursor, colours, hides or turns anything."""

from __future__ import annotations


def plain(text: str) -> str:
    r"""The text with every character that is not printed written as an escape.

    Those are control characters, line breaks, what turns the direction of text, what has no width, and halves of
    characters.

    >>> print(plain("red: \x1b[31m, a new line:\n, half a character: \ud800"))
    red: \x1b[31m, a new line:\n, half a character: \ud800
    >>> print(plain("left\u202eright"))
    left\u202eright
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def shortened(text: str, longest: int = 240) -> str:
    """The beginning of a text that is longer than this number of characters.

    >>> shortened("x" * 5000, 3)
    'xxx…'
    """
    return text if len(text) <= longest else f"{text[:longest]}…"
