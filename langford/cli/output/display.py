"""Remarks and JSON documents, as commands print them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from langford.cli.output.terminal import say as say

SLOW_SECONDS = 1.5


def print_json(document: object) -> None:
    """Print one JSON document on standard output."""
    print(json.dumps(document, indent=2))


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
