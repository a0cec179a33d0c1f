"""Compile each kernel once, however many processes of this machine start at the same time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from langford.kernels.cache import cache_folder

if sys.platform != "win32":
    import fcntl


@contextmanager
def compiled_once(kernel: str, *shape: object) -> Iterator[None]:
    """Hold a kernel's lock for its first call in this process.

    numba's cache lets every process compile a kernel that is not in it yet: with the lock one process
    compiles, the others wait for it and load what it has compiled.  The lock ends with the process.  Where
    no lock can be had (a full disk, a file system without locks) each process compiles for itself.

    Args:
        kernel, shape: name the kernel and what it is compiled for.
    """
    name = "-".join([kernel, *map(str, shape)])
    with ExitStack() as held:
        with suppress(OSError):
            lock = held.enter_context((cache_folder() / f"{name}.lock").open("a"))
            if sys.platform != "win32":
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield
