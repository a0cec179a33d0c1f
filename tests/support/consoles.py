"""A console that keeps what it hears, and asks to stop when a test wants it."""

from __future__ import annotations

from collections.abc import Callable

from jobs.console import Console


class KeptConsole(Console):
    """Keeps all remarks.

    Attributes:
        said: the remarks, in order.
    """

    def __init__(self, stop: Callable[[], str | None] = lambda: None) -> None:
        """``stop``: gives the reason to stop, or None."""
        self.said: list[str] = []
        self._stop = stop

    def say(self, message: str) -> None:
        self.said.append(message)

    def stop_reason(self) -> str | None:
        return self._stop()
