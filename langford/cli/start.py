"""Where the command starts: Ctrl-C while the command line is still loaded ends it without a traceback."""

from __future__ import annotations

import os
import signal

from langford.loading import load


def main() -> None:
    """Load the command line and run it."""
    try:
        load("langford.cli.main:main")()
    except KeyboardInterrupt:
        # Nothing has been done yet, or all has been said: what the command does between hears of it itself.
        os._exit(128 + signal.SIGINT)
