"""How far a computation is, for others to see: whether it compiles its kernels, and how many steps it has made.

A step is one call of a kernel.  An evaluator counts its steps; whoever wants to know them says where, and nobody
needs to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Protocol

COMPILING_WORDS = "compiling kernels, once for this machine and this version …"


class Numbers(Protocol):
    """A list of integers, or shared memory that looks like one."""

    def __getitem__(self, position: int) -> int: ...

    def __setitem__(self, position: int, value: int) -> None: ...


class Steps:
    """A counter of this process's steps, kept where others may read it."""

    def __init__(self) -> None:
        self._numbers: Numbers = [0]
        self._position = 0

    def count_in(self, numbers: Numbers, position: int) -> None:
        """Count in one of some numbers from now on."""
        self._numbers, self._position = numbers, position

    def made(self) -> None:
        """Count one step.  Of two threads that do so at once, one may be forgotten."""
        self._numbers[self._position] += 1


STEPS = Steps()
"""The counter of this process."""


class Compiling:
    """Tells a listener when this process begins to compile kernels, or to wait while another one does, and ends."""

    def __init__(self) -> None:
        self._lock, self._at_once = Lock(), 0
        self._listener: Callable[[bool], None] = lambda compiles: None

    def tell(self, listener: Callable[[bool], None]) -> None:
        """``listener``: called with True when this process begins, and with False when it ends."""
        self._listener = listener

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Around a compilation; several threads may compile at once."""
        with self._lock:
            self._at_once += 1
            if self._at_once == 1:
                self._listener(True)
        try:
            yield
        finally:
            with self._lock:
                self._at_once -= 1
                if not self._at_once:
                    self._listener(False)


COMPILING = Compiling()
"""What this process compiles."""
