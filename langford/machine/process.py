"""Whether this process belongs to this program, and its threads for kernels, which cannot be interrupted.

Commands and workers change the interpreter in ways that another program may not want.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from langford.loading import load

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

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


@contextmanager
def computing_threads(number: int) -> Iterator[ThreadPoolExecutor]:
    """If the block ends with an error, or with Ctrl-C, calls that wait are cancelled, and calls that run are left
    running.
    """
    pool: ThreadPoolExecutor = load("concurrent.futures:ThreadPoolExecutor")(number, COMPUTING)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
