"""The commands that run on the ranks of an MPI program."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import sys
import termios
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

from jobs.clock import SYSTEM, Clock
from langford.cli.exit_codes import ExitCode, code_of_error, code_of_signal
from langford.cli.failures import code_of_failure
from langford.cli.output.display import say
from langford.errors import LangfordError

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

READ_SECONDS, LOOK_SECONDS = 5.0, 0.01
"""How long a launcher may take to read the output of a rank that aborts, and how often the rank looks."""


@contextmanager
def failing_together(communicator: Intracomm, but_for: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """End all ranks when this one fails: without the abort the others would wait for it forever.

    ``but_for``: errors that every rank has at the same place; they are raised as they are.
    """
    try:
        yield
    except but_for:
        raise
    except BaseException as error:
        code: int = ExitCode.FAILED
        if isinstance(error, LangfordError):
            say(f"langford: rank {communicator.rank}: {error}")
            code = code_of_error(error)
        elif isinstance(error, KeyboardInterrupt):
            say(f"langford: rank {communicator.rank}: stopped by SIGINT")
            code = code_of_signal(signal.SIGINT)
        elif isinstance(error, Exception) and (found := code_of_failure(error)) is not None:
            code = found
        else:
            with suppress(OSError):
                traceback.print_exc()
                sys.stderr.flush()
        abort(communicator, code)


def abort(communicator: Intracomm, code: int, outputs: Sequence[int] = (1, 2), clock: Clock = SYSTEM) -> NoReturn:
    """End all ranks with an exit code, once the launcher has read the output of this one.

    The launcher may see the abort before output of the same moment, and ends then without having read it.
    ``outputs``: descriptors of what this rank has written to.
    """
    deadline = clock.monotonic() + READ_SECONDS
    try:
        while any(map(_is_unread, outputs)) and clock.monotonic() < deadline:
            clock.wait(LOOK_SECONDS)
    finally:
        # Also at a second Ctrl-C: the other ranks would wait forever.
        communicator.Abort(code)
    # Some libraries come back from that before this process ends.
    raise SystemExit(code)


def _is_unread(descriptor: int) -> bool:
    """Whether a pipe holds bytes that its reader has not taken yet; False for anything but a pipe."""
    with suppress(OSError):
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return any(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)))
    return False
