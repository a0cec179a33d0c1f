"""Styled output, and a screen that is drawn again and again; imported late, because rich takes long to load."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live
from rich.text import Text


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
