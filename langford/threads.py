"""Threads for kernels.  A kernel cannot be interrupted, so a program that stops does not wait for them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from langford.process import COMPUTING


@contextmanager
def computing_threads(number: int) -> Iterator[ThreadPoolExecutor]:
    """If the block ends with an error, or with Ctrl-C, calls that wait are cancelled, and calls that run are left
    running.
    """
    pool = ThreadPoolExecutor(number, COMPUTING)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
