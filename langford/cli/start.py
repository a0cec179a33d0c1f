"""Where the command starts: what it cannot run on, or Ctrl-C while it is loaded, ends it without a traceback."""

from __future__ import annotations

import os
import signal
import sys

from langford.cli.loading import delete_damaged


def main() -> None:
    if sys.platform == "win32":
        print(
            "langford: this runs on Linux and macOS: on Windows, use it in WSL 2 (`wsl --install`)", file=sys.stderr
        )
        sys.exit(2)
    try:
        from langford.cli.main import main as command

        command()
    except (EOFError, ValueError) as error:
        reason = delete_damaged(error)
        if reason is None:
            raise
        print(f"langford: {reason}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        # Nothing has been done yet, or all has been said: what the command does between hears of it itself.
        os._exit(128 + signal.SIGINT)
