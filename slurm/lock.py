"""One keeper per queue: a lock on a file beside its logs."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slurm.errors import AnotherKeeper


@contextmanager
def held(file: Path) -> Iterator[None]:
    """Hold the lock while the block runs; raises AnotherKeeper when another process holds it.

    The operating system releases the lock when the process ends, however it ends.
    """
    with file.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise AnotherKeeper(f"another keeper holds {file}: stop that one first") from error
        yield
