"""How the command ends: the exit codes, and which error leads to which."""

from __future__ import annotations

import signal
from enum import IntEnum

from langford.errors import CheckFailed, Incomplete, LangfordError


class ExitCode(IntEnum):
    """What a script that calls ``langford`` can learn from its exit code.

    Attributes:
        DONE: everything that was asked for is done.
        TASKS_SET_ASIDE: some tasks of the campaign failed too often.
        FAILED: a part of the machine does not work, or the program has an error; the same number.
        BAD_INPUT: the command cannot do what it is asked; the message says what to change.
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
    """The exit code of a command that a signal stopped, as shells have it: 128 + its number."""
    return 128 + received
