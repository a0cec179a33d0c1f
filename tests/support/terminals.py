"""Pseudo terminals that a test reads, and commands on them."""

from __future__ import annotations

import os
import pty
import select
import threading
import time
from pathlib import Path

from tests.support.command_line import ENVIRONMENT
from tests.support.preloaded import preloaded

END = b"(that was all)"


class Terminal:
    """A terminal that somebody reads, until it is closed.

    Attributes:
        end: the end of it that a program has.
        shown: what programs have written to it.
    """

    def __init__(self) -> None:
        self._master, self.end = pty.openpty()
        self.shown = b""
        self._closing = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while not self._closing.is_set():
            if select.select([self._master], [], [], 0.05)[0]:
                self.shown += os.read(self._master, 65_536)
        os.close(self._master)

    def drain(self) -> None:
        """Close it after all that was written has been read."""
        os.write(self.end, END)
        deadline = time.monotonic() + 60
        while END not in self.shown:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        self.shown = self.shown.replace(END, b"")
        self.close()

    def close(self) -> None:
        """Close it, as an ended connection does: the programs on it get a SIGHUP."""
        self._closing.set()
        self._reader.join()
        os.close(self.end)


def shown(folder: Path, *arguments: str, with_errors: bool = True) -> tuple[int, bytes]:
    """The exit code of a command with arguments, and what its outputs have shown on a terminal.

    ``with_errors``: whether standard error is the terminal too; else it goes nowhere.
    """
    terminal = Terminal()
    with open(os.devnull, "w") as nowhere:
        errors = terminal.end if with_errors else nowhere
        environment = {**ENVIRONMENT, "TERM": "xterm"}
        code = preloaded().start(list(arguments), folder, environment, terminal.end, errors).wait(60)
    terminal.drain()
    return code, terminal.shown
