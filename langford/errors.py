"""One exception class per cause; each message says what to do next."""

from __future__ import annotations


class LangfordError(Exception):
    """Base of every error that this project raises on purpose."""


class BadProblem(LangfordError):
    """The problem does not exist (n < 1, an unknown variant, impossible places)."""


class MethodDoesNotApply(LangfordError):
    """The method cannot count this problem; the message names those that can."""


class BadDepth(LangfordError):
    """The task depth p is outside what the method can split this problem into."""


class BadSeed(LangfordError):
    """The method has no sums for this seed."""


class TaskIndexOutOfRange(LangfordError):
    """A task index is not below the campaign's number of tasks."""


class WrongResult(LangfordError):
    """Base of the errors that mean: at least one result is wrong, or cannot be trusted."""


class MachineFailed(LangfordError):
    """Base of the errors of this machine, not of the input: another attempt, or another machine, may succeed."""


class CheckFailed(WrongResult):
    """A partial result contradicts itself: wrong residue, missing zero bits or out of bounds."""


class Incomplete(LangfordError):
    """A merge was asked for before every task has a result."""


class TooExpensive(LangfordError):
    """The count would take too long; the message gives the expected time."""
