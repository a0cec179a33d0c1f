"""The signals that ask a command to stop."""

from __future__ import annotations

import signal
from types import FrameType


class StopSignals:
    """Remembers the first signal that asks the command to stop.

    A command that was started by ``nohup`` goes on when its terminal is closed.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        asking = [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            asking.append(signal.SIGHUP)
        for number in asking:
            signal.signal(number, self._remember)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.received = self.received or signal.Signals(number)

    def reason(self) -> str | None:
        """None before a signal comes."""
        return self.received.name if self.received else None
