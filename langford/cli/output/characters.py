"""Characters that the encoding of an output lacks: written in ASCII where that is known, else as escapes."""

from __future__ import annotations

import codecs
import sys

READABLE = "langford.readable"
"""The name of this error handler, for streams and :meth:`str.encode`."""
IN_ASCII = {
    "…": "...", "≈": "~", "±": "+/-", "−": "-", "·": "*", "²": "^2", "→": "->", "“": '"', "”": '"', "–": "-",
}  # fmt: skip


def has_characters(text: str) -> bool:
    """Whether standard output can show these characters."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _readable(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeEncodeError):
        known = IN_ASCII.get(error.object[error.start])
        if known is not None:
            return known, error.start + 1
        error.end = error.start + 1
    return codecs.backslashreplace_errors(error)


codecs.register_error(READABLE, _readable)
