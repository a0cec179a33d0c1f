"""Whose process this is: a command or a worker of ours leaves out what the program of somebody else may want."""

from __future__ import annotations

_is_ours = False
_has_left_threads = False


def claim() -> None:
    """Say, before any kernel is loaded, that this process does nothing but our work."""
    global _is_ours
    _is_ours = True


def is_ours() -> bool:
    """Whether this process does nothing but our work."""
    return _is_ours


def leave_threads() -> None:
    """Say that threads may compute for whom nobody waits any more."""
    global _has_left_threads
    _has_left_threads = True


def has_left_threads() -> bool:
    """Whether threads may compute for whom nobody waits: the end of the interpreter would."""
    return _has_left_threads
