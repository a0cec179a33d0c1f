"""What commands print: remarks, questions and JSON documents, and untrusted text, of which no character acts."""

from __future__ import annotations

import codecs
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from langford.machine.process import COMPILING
from langford.words import plain

SLOW_SECONDS = 1.5


def print_json(document: object) -> None:
    print(json.dumps(document, indent=2))


def confirmed(question: str) -> bool:
    """Whether the user says yes on a terminal; False without one."""
    return sys.stdin.isatty() and click.confirm(question, err=True)


@contextmanager
def said_when_slow(message: str) -> Iterator[Callable[[], None]]:
    """Print a message if the block takes longer than SLOW_SECONDS, not counting compilations; calling what this
    yields cancels it."""
    over = threading.Event()

    def wait() -> None:
        while not over.wait(SLOW_SECONDS):
            if not COMPILING.runs:
                say(message)
                return

    threading.Thread(target=wait, daemon=True).start()
    try:
        yield over.set
    finally:
        over.set()


def show(text: str) -> None:
    """Print lines that may contain untrusted text on standard output; raises OSError."""
    print("\n".join(map(plain, text.split("\n"))), flush=True)


def outcome(words: str, document: object, as_json: bool) -> None:
    """Show what a command did in words, or as JSON."""
    if as_json:
        print_json(document)
    else:
        show(words)


def say(message: str) -> None:
    """Print a remark on standard error; if that fails, the command continues."""
    with suppress(OSError):
        print(plain(message), file=sys.stderr, flush=True)


def is_terminal(out: Path | None) -> bool:
    """Whether this output is a terminal, or another device, which nobody reads; None: standard output."""
    return sys.stdout.isatty() if out is None else out.is_char_device()


READABLE = "langford.readable"
"""The name of this error handler, for streams and :meth:`str.encode`."""
IN_ASCII = {
    "…": "...", "≈": "~", "±": "+/-", "−": "-", "·": "*", "²": "^2", "→": "->", "“": '"', "”": '"', "–": "-",
}  # fmt: skip


def has_characters(text: str) -> bool:
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
