"""Whole numbers among the arguments of the library."""

from __future__ import annotations

from operator import index

from langford.errors import LangfordError


def whole(what: str, number: int, error: type[LangfordError]) -> int:
    """The number as an integer of Python; raises ``error`` for a value of another kind.

    NumPy's integers overflow when they are shifted, and 1.0 equals 1 but is written differently.
    """
    try:
        return index(number)
    except TypeError:
        raise error(f"{what} must be a whole number, not {number!r:.60}") from None
