"""The commands that run on the ranks of an MPI program."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from langford.cli.exit_codes import ExitCode, code_of_error, code_of_signal
from langford.cli.output.terminal import say
from langford.errors import LangfordError

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm


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
        else:
            with suppress(OSError):
                traceback.print_exc()
                sys.stderr.flush()
        communicator.Abort(code)
        # Some libraries come back from that before this process ends.
        raise SystemExit(code) from error
