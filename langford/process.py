"""Whose process this is: a command or a worker of ours leaves out what the program of somebody else may want."""

from __future__ import annotations

import threading

COMPUTING = "langford-computing"
"""What the names of threads that compute begin with."""
_is_ours = False


def claim() -> None:
    """Say, before any kernel is loaded, that this process does nothing but our work."""
    global _is_ours
    _is_ours = True


def is_ours() -> bool:
    """Whether this process does nothing but our work."""
    return _is_ours


def still_computes() -> bool:
    """Whether threads compute for whom nobody waits any more; the interpreter would wait at its end."""
    return any(thread.name.startswith(COMPUTING) for thread in threading.enumerate())
