"""One exception class per cause; each message says what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from operator import index
from traceback import walk_tb


class LangfordError(Exception):
    """Base of every error that this project raises on purpose."""


class BadInput(LangfordError):
    """What was given does not fit: a file, a name, a number, a token, or an option beside another one."""


class NotInstalled(LangfordError):
    """A package or a program that this needs is missing; the message says how to install it."""


class BadProblem(BadInput):
    """The problem does not exist (n < 1, an unknown variant, impossible places)."""


class MethodDoesNotApply(BadInput):
    """The method cannot count this problem; the message names those that can."""


class BadDepth(BadInput):
    """The task depth p is outside what the method can split this problem into."""


class BadSeed(BadInput):
    """The method has no sums for this seed."""


class TaskIndexOutOfRange(BadInput):
    """A task index is not below the campaign's number of tasks."""


class WrongResult(LangfordError):
    """Base of the errors that mean: at least one result is wrong, or cannot be trusted."""


class MachineFailed(LangfordError):
    """Base of the errors of this machine, not of the input: another attempt, or another machine, may succeed."""


class CheckFailed(WrongResult):
    """A partial result contradicts itself: wrong residue, missing zero bits or out of bounds."""


class Incomplete(LangfordError):
    """A merge was requested before every task had a result."""


class TooExpensive(LangfordError):
    """The count would take too long; the message gives the expected time."""


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what led to it, each once: such a chain may be a circle."""
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def named(error: BaseException) -> str:
    """An error that others raised, in words: their messages say little without the name of the class.

    >>> named(ZeroDivisionError("division by zero"))
    'ZeroDivisionError: division by zero'
    """
    return f"{type(error).__name__}: {error}"


def modules_of(error: Exception) -> list[str]:
    """The modules that an error passed through, also in another process (see :mod:`jobs.pools.fork_server`)."""
    here = [str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__)]
    return [*vars(error).get("modules", ()), *here]


def whole(what: str, number: int, error: type[LangfordError]) -> int:
    """The number as an integer of Python; raises ``error`` for a value of another kind.

    NumPy's integers overflow when they are shifted, and 1.0 equals 1 but is written differently.
    """
    try:
        return index(number)
    except TypeError:
        raise error(f"{what} must be a whole number, not {number!r:.60}") from None
