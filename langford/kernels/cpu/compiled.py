"""Compile each kernel once, however many processes of this machine start at the same time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from langford.kernels.cache import cache_folder


@contextmanager
def compiled_once(kernel: str, *shape: object) -> Iterator[None]:
    """Hold a kernel's lock for its first call in this process.

    numba's cache lets every process compile a kernel that is not in it yet: with the lock one process
    compiles, the others wait for it and load what it has compiled.  The lock ends with the process.

    Args:
        kernel, shape: name the kernel and what it is compiled for.
    """
    name = "-".join([kernel, *map(str, shape)])
    with (cache_folder() / f"{name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
