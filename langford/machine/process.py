"""This process: whether it belongs to this program, its threads and its progress; whether others have ended.

Commands and workers change the interpreter in ways that another program may not want.
Kernels cannot be interrupted.

A step is one call of a kernel.  Evaluators count their steps in :data:`STEPS`; a program that watches them chooses
where the number is kept.
"""

from __future__ import annotations

import errno
import getpass
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

SHORTAGES = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EFBIG}
"""Error numbers that mean: the process has reached its limit of files, memory, processes, or the size of a file."""
COMPUTING = "langford-computing"
"""The beginning of the names of threads that compute."""
_is_ours = False


def claim() -> None:
    """Declare that this process belongs to this program; call it before any kernel is loaded."""
    global _is_ours
    _is_ours = True


def is_ours() -> bool:
    return _is_ours


def has_ended(process: int) -> bool:
    """Whether this machine has no process of this id; one of another user has not ended either."""
    try:
        os.kill(process, 0)
    except OSError as error:
        return error.errno == errno.ESRCH
    return False


def user() -> str:
    """Where the system knows no name, the number of the user."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # KeyError: before Python 3.13
        return str(os.getuid())


def still_computes() -> bool:
    """Whether threads still compute.  At its end the interpreter would wait for them."""
    return any(thread.name.startswith(COMPUTING) for thread in threading.enumerate())


@contextmanager
def computing_threads(number: int) -> Iterator[ThreadPoolExecutor]:
    """If the block ends with an error, or with Ctrl-C, calls that wait are cancelled, and calls that run are left
    running.
    """
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(number, COMPUTING)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def compiling_words(what: str) -> str:
    """What a command prints when it compiles.

    >>> compiling_words("of polyphase")
    'compiling the kernels of polyphase, which takes up to 30 s; they are kept for all problems of this shape …'
    """
    return f"compiling the kernels {what}, which takes up to 30 s; they are kept for all problems of this shape …"


class SharedNumbers(Protocol):
    """A list of integers, or shared memory that looks like one."""

    def __getitem__(self, position: int) -> int: ...

    def __setitem__(self, position: int, value: int) -> None: ...


class Steps:
    """A counter of this process's steps, which may be in shared memory."""

    def __init__(self) -> None:
        self._numbers: SharedNumbers = [0]
        self._position = 0

    def count_in(self, numbers: SharedNumbers, position: int) -> None:
        """Keep the count at this position of ``numbers`` from now on."""
        self._numbers, self._position = numbers, position

    def made(self) -> None:
        """Count one step.  Of two steps that are counted at the same moment, one may be lost."""
        self._numbers[self._position] += 1


STEPS = Steps()
"""The counter of this process."""


class Compiling:
    """Notifies a listener when this process begins and ends to compile kernels, or to wait for another one."""

    def __init__(self) -> None:
        self._lock, self._at_once = threading.Lock(), 0
        self._listener: Callable[[str | None], None] = lambda what: None

    def tell(self, listener: Callable[[str | None], None]) -> None:
        """Notify this listener: it is called with the kernels ("of polyphase") at the beginning, and with None at
        the end."""
        self._listener = listener

    @property
    def runs(self) -> bool:
        return self._at_once > 0

    @contextmanager
    def noted(self, what: str) -> Iterator[None]:
        """A context around a compilation; several threads may compile at once.

        ``what``: the kernels, as :func:`compiling_words` takes them.
        """
        with self._lock:
            self._at_once += 1
            if self._at_once == 1:
                self._listener(what)
        try:
            yield
        finally:
            with self._lock:
                self._at_once -= 1
                if not self._at_once:
                    self._listener(None)


COMPILING = Compiling()
"""The compilations of this process."""
