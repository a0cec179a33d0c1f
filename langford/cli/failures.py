"""Errors of the operating system as one line and an exit code, and outputs that can no longer be written."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from langford.cli.exit_codes import ExitCode
from langford.cli.output.terminal import say
from langford.errors import modules_of

COMPILERS = {"numba", "llvmlite"}
SHORTAGES = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
"""Error numbers that mean: the process has reached its limit of files, memory or processes."""


def code_of_refusal(error: OSError) -> int:
    """Report an error of the operating system; returns the exit code."""
    if error.errno in SHORTAGES:
        limits = "raise its limits (`ulimit -a`) or use fewer --workers, then repeat"
        say(f"langford: the system gives this process no more ({error.strerror}): {limits}")
        return ExitCode.FAILED
    if error.filename is not None:
        say(f"langford: {error.filename}: {error.strerror}; choose another file or folder, or make room")
        return ExitCode.BAD_INPUT
    if error.errno == errno.ENOENT and _working_folder_is_gone():
        say("langford: the working folder is gone: change to one that exists (`cd`), and repeat")
        return ExitCode.BAD_INPUT
    return cannot_print(error)


def unusable(error: Exception) -> str | None:
    """What of this installation of Python keeps the program from starting, and what to do; None: nothing of it."""
    if isinstance(error, ImportError) and (error.name or "").partition(".")[0] in sys.stdlib_module_names:
        return (
            f"this Python has no {error.name} ({sys.executable}): use another one, or install the library that it "
            "needs and build it again; `langford doctor` lists what is absent"
        )
    in_numba = any(module.partition(".")[0] in COMPILERS for module in modules_of(error))
    if in_numba and type(error).__module__.partition(".")[0] not in COMPILERS:
        return (
            f"numba cannot start ({type(error).__name__}: {error}): unset the variables NUMBA_..., or install it "
            "again; `langford doctor` shows whether it works"
        )
    return None


def cannot_print(error: OSError) -> int:
    """Report that the output cannot be written; returns the exit code."""
    forget(sys.stdout)
    say(f"langford: cannot write the output ({error.strerror or error}): make room and repeat")
    return ExitCode.FAILED


def forget(output: TextIO) -> None:
    """Discard what is still buffered for an output; otherwise the interpreter tries to write it when it exits."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())


def _working_folder_is_gone() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False
