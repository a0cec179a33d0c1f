"""Untrusted text, and characters that an output lacks: control characters are escaped, so that none acts."""

from __future__ import annotations

import codecs
import os
import sys
from contextlib import suppress
from pathlib import Path

from langford.words import plain as plain


def show(text: str) -> None:
    """Print lines that may contain untrusted text on standard output; raises OSError."""
    print("\n".join(map(plain, text.split("\n"))), flush=True)


def say(message: str) -> None:
    """Print a remark on standard error; if that fails, the command continues."""
    with suppress(OSError):
        print(plain(message), file=sys.stderr, flush=True)


def is_terminal(out: Path | None) -> bool:
    """Whether this output is a terminal; None: standard output."""
    if out is None:
        return sys.stdout.isatty()
    if not out.is_char_device():
        return False
    with suppress(OSError):
        descriptor = os.open(out, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            return os.isatty(descriptor)
        finally:
            os.close(descriptor)
    return False


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
