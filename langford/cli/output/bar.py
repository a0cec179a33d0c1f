"""The progress bar on a terminal; a module by itself, because rich takes long to load and a log needs no bar."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import IO, Any, TextIO, cast

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from langford.cli.output.terminal import plain


class Lossy:
    """A text stream that ignores write errors, so that a command completes after its terminal has been closed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Returns the length whether or not it was written."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Bar:
    """A bar on standard error with the share that is done; a context manager that shows it and removes it."""

    def __init__(self, title: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>5.1f}%"),
            TextColumn("{task.fields[done]} {task.fields[remaining]}"),
            console=Console(file=cast(IO[str], Lossy(sys.stderr))),
            transient=True,
        )
        self._task = self._progress.add_task(plain(title), total=1.0, done="", remaining="")

    def update(self, share: float, done: str, remaining: str) -> None:
        """Show the share that is done, from 0 to 1, and two texts: what is done, and the time that remains."""
        self._progress.update(self._task, completed=share, done=done, remaining=remaining)

    def remark(self, message: str) -> None:
        self._progress.console.print(plain(message), markup=False, highlight=False)

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()
