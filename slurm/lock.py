"""One keeper per queue: a lock on a file beside its logs."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from langford.machine.durable import NotRegular, lock_file
from slurm.errors import QueueNotKept


@contextmanager
def held(file: Path) -> Iterator[None]:
    """Hold the lock while the block runs; raises QueueNotKept when another process holds it.

    The operating system releases the lock when the process ends, however it ends.
    """
    try:
        opened = lock_file(file)
    except NotRegular as error:
        raise QueueNotKept(f"{error}, so it cannot be locked: remove it, then try again") from error
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise QueueNotKept(f"another keeper holds {file}: stop that one first") from error
        yield
