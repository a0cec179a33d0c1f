"""Whether this process belongs to this program, or another program has imported the library.

Commands and workers change the interpreter in ways that another program may not want.
"""

from __future__ import annotations

import threading

COMPUTING = "langford-computing"
"""The beginning of the names of threads that compute."""
_is_ours = False


def claim() -> None:
    """Declare that this process belongs to this program; call it before any kernel is loaded."""
    global _is_ours
    _is_ours = True


def is_ours() -> bool:
    return _is_ours


def still_computes() -> bool:
    """Whether threads still compute.  At its end the interpreter would wait for them."""
    return any(thread.name.startswith(COMPUTING) for thread in threading.enumerate())
