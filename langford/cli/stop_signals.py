"""The signals that ask a command to stop."""

from __future__ import annotations

import signal
from types import FrameType


class StopSignals:
    """Remembers the first signal that asks the command to stop.

    Attributes:
        received: that signal; None before it comes.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._remember)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.received = self.received or signal.Signals(number)

    def reason(self) -> str | None:
        """The name of the signal; None before it comes."""
        return self.received.name if self.received else None
