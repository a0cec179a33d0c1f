"""What rich draws: styled output, a screen, a progress bar; imported late, because rich takes long to load."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any, TextIO, cast

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from langford.words import plain


class Screen:
    """Lines on a terminal, drawn anew each time; a context manager that gives the terminal back."""

    def __init__(self) -> None:
        self._live = Live(console=Console(), screen=True, auto_refresh=False)

    def show(self, lines: Sequence[str]) -> None:
        """Draw these lines instead of the last ones; what does not fit below is left out."""
        shown = lines[: self._live.console.height]
        self._live.update(Text("\n".join(shown), no_wrap=True, overflow="crop"), refresh=True)

    def __enter__(self) -> Screen:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()


def styled() -> Console:
    """With NO_COLOR it gets no style at all, not even bold or dim text."""
    return Console(color_system=None if os.environ.get("NO_COLOR") else "auto")


class Lossy:
    """A text stream that ignores write errors, so that a command completes after its terminal has been closed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
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
        self._progress.update(self._task, completed=share, done=done, remaining=remaining)

    def remark(self, message: str) -> None:
        self._progress.console.print(plain(message), markup=False, highlight=False)

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()
