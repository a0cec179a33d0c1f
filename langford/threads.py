"""Threads that compute, and that nobody waits for who wants to stop: a kernel cannot be interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from langford.process import COMPUTING


@contextmanager
def computing_threads(number: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of so many threads.

    If the block ends with an error, or with Ctrl-C, what waits is cancelled, and what has begun is left behind.
    """
    pool = ThreadPoolExecutor(number, COMPUTING)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
