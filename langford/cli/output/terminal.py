"""Untrusted text on a terminal: its control characters are escaped, so that none of them has an effect."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from langford.plain import plain as plain


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
