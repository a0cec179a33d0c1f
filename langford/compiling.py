"""Whether this process compiles kernels now: it takes seconds, and whoever talks to a user wants to say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

COMPILING_WORDS = "compiling kernels, once for this machine and this version …"


class Compiling:
    """Tells a listener when this process begins to compile kernels, or to wait for a process that does, and ends."""

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
