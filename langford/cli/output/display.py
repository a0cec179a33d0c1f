"""Remarks, questions and JSON documents, as commands print them."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from langford.cli.output.terminal import say as say
from langford.errors import BadInput

SLOW_SECONDS = 1.5


def print_json(document: object) -> None:
    print(json.dumps(document, indent=2))


def require_yes(words: str, verb: str, yes: bool, instead: Callable[[], str]) -> None:
    """Ask whether to do what is described in ``words``; raises BadInput without --yes, or a terminal to ask on."""
    if not yes and not (sys.stdin.isatty() and click.confirm(f"{words}. {verb}?", err=True)):
        raise BadInput(f"{words}: {instead()}, or give --yes")


@contextmanager
def said_when_slow(message: str) -> Iterator[Callable[[], None]]:
    """Print a message if the block takes longer than SLOW_SECONDS; calling what this yields cancels it."""
    timer = threading.Timer(SLOW_SECONDS, say, [message])
    timer.daemon = True
    timer.start()
    try:
        yield timer.cancel
    finally:
        timer.cancel()
