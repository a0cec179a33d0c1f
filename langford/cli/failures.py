"""Errors of the system and of its Python as one line and an exit code, and outputs that cannot be written."""

from __future__ import annotations

import errno
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from langford.cli.exit_codes import ExitCode
from langford.cli.loading import delete_damaged
from langford.cli.output.display import say
from langford.errors import causes, modules_of, named
from langford.machine.folders import takes_no_file
from langford.machine.process import SHORTAGES

COMPILERS = {"numba", "llvmlite"}
FULL = {errno.ENOSPC, errno.EDQUOT}
ABSENT = re.compile(r"No module named '([\w.]+)'")
VARIABLES = {"MPLBACKEND": "valid value for backend", "TZ": "offset must be a timedelta strictly between"}
"""Variables of other programs that make them fail, with what they say then."""
NO_MEMORY, NO_THREAD = "failed to map segment", "can't start new thread"
"""What a library that is loaded, or Python, says where the memory or the number of threads is limited."""


def code_of_failure(error: Exception) -> int | None:
    """Report an error of the system, of this installation or of a damaged ledger; returns the exit code.

    None for any other error.
    """
    shortage = _shortage(error)
    if shortage is not None:
        limits = "raise its limits (`ulimit -a`) or use fewer --workers, then repeat"
        say(f"langford: this process has reached a limit of the system ({shortage}): {limits}")
        return ExitCode.FAILED
    if isinstance(error, OSError) and error.errno is not None:
        return _code_of_refusal(error)
    reason = unusable(error) or _damage()
    if reason is None:
        return None
    say(f"langford: {' '.join(reason.split())}")
    return ExitCode.BAD_INPUT


def _shortage(error: Exception) -> str | None:
    """Which limit of the system an error is about, in words; None: none."""
    if isinstance(error, OSError) and error.errno in SHORTAGES:
        return error.strerror
    for cause in causes(error):
        if isinstance(cause, MemoryError) or NO_MEMORY in str(cause):
            return os.strerror(errno.ENOMEM)
        if NO_THREAD in str(cause):
            return NO_THREAD
    return None


def _code_of_refusal(error: OSError) -> int:
    if error.filename is not None:
        lack = takes_no_file(Path(error.filename).parent) if error.errno == errno.ENOSPC else None
        reason = lack or error.strerror
        room = ", or free some space" if error.errno in FULL else ""
        say(f"langford: {error.filename}: {reason}; choose another file or folder{room}")
        return ExitCode.BAD_INPUT
    if error.errno == errno.ENOENT and _working_folder_is_gone():
        say("langford: the working folder is gone: change to one that exists (`cd`), and repeat")
        return ExitCode.BAD_INPUT
    return cannot_print(error)


def _damage() -> str | None:
    """What is wrong with a ledger that this process has opened, so that anything may fail; None: nothing."""
    from db.store import soundness

    damage = soundness.damage()
    return None if damage is None else str(damage)


def unusable(error: Exception) -> str | None:
    """What of this installation of Python keeps the program from starting, and what to do; None: nothing of it."""
    absent = next(filter(None, map(_absent_part, causes(error))), None)
    if absent is not None:
        return (
            f"this Python has no {absent} ({sys.executable}): use another one, or install the library that it "
            "needs and build it again; `langford doctor` lists what is absent"
        )
    for cause in causes(error):
        for name, said in VARIABLES.items():
            if name in os.environ and said in str(cause):
                return f"the variable {name} cannot be used ({os.environ[name]!r:.80}): correct or unset it"
    damaged = delete_damaged(error)
    if damaged is not None:
        return damaged
    in_numba = any(module.partition(".")[0] in COMPILERS for module in modules_of(error))
    if in_numba and type(error).__module__.partition(".")[0] not in COMPILERS:
        return (
            f"numba cannot start ({named(error)}): unset the variables NUMBA_..., or install it "
            "again; `langford doctor` shows whether it works"
        )
    return None


def _absent_part(error: BaseException) -> str | None:
    """The module of the standard library that this Python was built without; None: that is not the error."""
    if not isinstance(error, ImportError):
        return None
    said = ABSENT.search(str(error))
    # A plain ImportError names nothing: then the module counts that wanted to import.
    passed = [module for module in modules_of(error) if module.partition(".")[0] not in ("importlib", "__main__")]
    name = error.name or (said[1] if said else "") or (passed or [""])[-1]
    return name if name.partition(".")[0] in sys.stdlib_module_names else None


def cannot_print(error: OSError) -> int:
    """Report that the output cannot be written; returns the exit code."""
    forget(sys.stdout)
    say(f"langford: cannot write the output ({error.strerror or error}): free some space, then repeat")
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
