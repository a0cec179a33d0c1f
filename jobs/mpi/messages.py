"""Messages between ranks: JSON in bytes, of any length.

mpi4py is an optional dependency: the functions that need it import it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from jobs.clock import SYSTEM, Clock

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

TASK, REPLY = 1, 2
"""Tags of messages: a task for a rank, and the rank's reply."""
STOP = -1
"""The token of the message that ends a rank."""
SHORTEST_SLEEP, MAX_SLEEP = 1e-5, 2e-3
"""Seconds between two looks for a message; the time doubles."""


def waiting(communicator: Intracomm, tag: int, timeout: float | None, clock: Clock = SYSTEM) -> Iterator[int]:
    """Yield the rank of each waiting message, after a wait of up to ``timeout`` seconds for the first one.

    The caller receives the message before it asks for the next rank.  ``timeout`` None: no limit.
    """
    from mpi4py import MPI

    status = MPI.Status()
    deadline = None if timeout is None else clock.monotonic() + timeout
    sleep = SHORTEST_SLEEP
    while not communicator.Iprobe(source=MPI.ANY_SOURCE, tag=tag, status=status):
        if deadline is not None and clock.monotonic() > deadline:
            return
        clock.wait(sleep)
        sleep = min(2 * sleep, MAX_SLEEP)
    yield status.Get_source()
    while communicator.Iprobe(source=MPI.ANY_SOURCE, tag=tag, status=status):
        yield status.Get_source()


def receive(communicator: Intracomm, source: int, tag: int) -> bytes:
    from mpi4py import MPI

    status = MPI.Status()
    communicator.Probe(source=source, tag=tag, status=status)
    content = bytearray(status.Get_count(MPI.BYTE))
    communicator.Recv([content, MPI.BYTE], source=source, tag=tag)
    return bytes(content)


def gather(communicator: Intracomm, content: bytes) -> list[bytes] | None:
    """Returns the bytes of every rank at rank 0, None at the other ranks."""
    from mpi4py import MPI

    sizes = np.zeros(communicator.size, np.int64)
    communicator.Gather(np.array([len(content)], np.int64), sizes, root=0)
    gathered = bytearray(int(sizes.sum()))
    communicator.Gatherv([content, MPI.BYTE], [gathered, sizes, MPI.BYTE], root=0)
    if communicator.rank:
        return None
    ends = np.cumsum(sizes)
    return [bytes(gathered[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
