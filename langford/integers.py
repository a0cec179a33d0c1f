"""Whole numbers that somebody gives to the library."""

from __future__ import annotations

from operator import index

from langford.errors import LangfordError


def whole(what: str, number: int, error: type[LangfordError]) -> int:
    """The number as Python's integer; raises ``error`` for what is none.

    One of NumPy overflows when it is shifted; and 1.0, though equal to 1, is written in another way.
    """
    try:
        return index(number)
    except TypeError:
        raise error(f"{what} must be a whole number, not {number!r:.60}") from None
