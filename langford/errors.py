"""One exception class per cause; each message says what to do next."""

from __future__ import annotations


class LangfordError(Exception):
    """Base of every error that this project raises on purpose."""


class BadProblem(LangfordError):
    """The problem asked for does not exist (n < 1, an unknown variant, places that cannot be)."""


class MethodDoesNotApply(LangfordError):
    """The method cannot count this problem; the message names those that can."""


class BadDepth(LangfordError):
    """The task depth p is outside what the method can split this problem into."""


class BadSeed(LangfordError):
    """The method has no sums for this seed."""


class TaskIndexOutOfRange(LangfordError):
    """A task index is not below the campaign's number of tasks."""


class WrongResult(LangfordError):
    """Base of the errors that say: at least one result is wrong, or cannot be trusted as it is."""


class MachineFailed(LangfordError):
    """Base of the errors of this machine, not of the input: a further attempt, or another machine, may do it."""


class CheckFailed(WrongResult):
    """A partial result contradicts itself: wrong residue, missing zero bits or out of bounds."""


class Incomplete(LangfordError):
    """A merge was asked for before every task has a result."""


class TooExpensive(LangfordError):
    """The count would take longer than anybody waits; the message says how long."""
