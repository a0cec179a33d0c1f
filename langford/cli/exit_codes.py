"""The exit codes of the command, the code of each error, and the signals that ask a command to stop."""

from __future__ import annotations

import signal
from enum import IntEnum
from types import FrameType

from langford.errors import Incomplete, LangfordError, MachineFailed, WrongResult


class ExitCode(IntEnum):
    """The exit codes of ``langford``.

    Attributes:
        DONE: the command did everything.
        TASKS_SET_ASIDE: some tasks of the campaign failed too often.
        FAILED: a part of the machine does not work, workers die again and again, or the program has an error;
            the same number as the last.
        BAD_INPUT: the command cannot work with this input; the message says what to change.
        INCOMPLETE: some tasks of the campaign have no result yet, or results wait to be evaluated again.
        CHECK_FAILED: a result is wrong, two results contradict each other, or the count is not the known one.
    """

    DONE = 0
    TASKS_SET_ASIDE = 1
    FAILED = 1
    BAD_INPUT = 2
    INCOMPLETE = 3
    CHECK_FAILED = 4


def code_of_error(error: LangfordError) -> ExitCode:
    """The exit code of a command that ends with an error."""
    codes = {
        WrongResult: ExitCode.CHECK_FAILED,
        Incomplete: ExitCode.INCOMPLETE,
        MachineFailed: ExitCode.FAILED,
    }
    return next((code for kind, code in codes.items() if isinstance(error, kind)), ExitCode.BAD_INPUT)


def code_of_signal(received: signal.Signals) -> int:
    """The exit code of a command that a signal stopped: 128 + its number, as in shells."""
    return 128 + received


class StopSignals:
    """Remembers the first signal that asks the command to stop.

    A command that was started by ``nohup`` continues when its terminal is closed.
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
