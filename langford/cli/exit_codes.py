"""The exit codes of the command, and the code of each error and signal."""

from __future__ import annotations

import signal
from enum import IntEnum

from langford.errors import CheckFailed, Incomplete, LangfordError


class ExitCode(IntEnum):
    """The exit codes of ``langford``.

    Attributes:
        DONE: the command did everything.
        TASKS_SET_ASIDE: some tasks of the campaign failed too often.
        FAILED: a part of the machine does not work, or the program has an error; the same number as the last.
        BAD_INPUT: the command cannot work with this input; the message says what to change.
        INCOMPLETE: some tasks of the campaign have no result yet.
        CHECK_FAILED: a result is wrong.
    """

    DONE = 0
    TASKS_SET_ASIDE = 1
    FAILED = 1
    BAD_INPUT = 2
    INCOMPLETE = 3
    CHECK_FAILED = 4


def code_of_error(error: LangfordError) -> ExitCode:
    """The exit code of a command that ends with an error."""
    if isinstance(error, CheckFailed):
        return ExitCode.CHECK_FAILED
    return ExitCode.INCOMPLETE if isinstance(error, Incomplete) else ExitCode.BAD_INPUT


def code_of_signal(received: signal.Signals) -> int:
    """The exit code of a command that a signal stopped: 128 + its number, as in shells."""
    return 128 + received
