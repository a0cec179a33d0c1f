"""The interface of compiled programs and of the arrays that they work on, for a GPU and for its emulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

DeviceArray = Any
"""An array on the device: CuPy's on a GPU, numpy's behind the host shim."""


class Stream(Protocol):
    """A queue of copies and launches, in order among themselves and after what the program did before,
    but beside those of other streams.

    Attributes:
        words: uint64[·], a buffer on the host that the device can read; write to it only while the stream
            is idle.
    """

    words: NDArray[np.uint64]

    @property
    def idle(self) -> bool:
        """Whether all that was launched is done."""
        ...

    def launch(self, name: str, used: int, *arguments: Any) -> None:
        """Copy the first ``used`` words to the device and run a kernel on (copy, *arguments), without waiting.

        An argument of None stands for a number on the device, uint32[1], that is 0 at the start.
        """
        ...

    def wait(self) -> None:
        """Return when the stream is idle."""
        ...


class Program(Protocol):
    """A compiled program on some device.

    Attributes:
        memory: bytes of memory of the device.
        multiprocessors: of the device.
        registers: per thread of the main kernel.
        blocks: of each launch; may be changed.
    """

    memory: int
    multiprocessors: int
    registers: int
    blocks: int

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """An array of zeros on the device."""
        ...

    def upload(self, array: NDArray[Any]) -> DeviceArray:
        """A copy of the array on the device."""
        ...

    def set_constant(self, name: str, values: NDArray[Any]) -> None:
        """Fill a variable in constant memory; each program has its own, even of one source."""
        ...

    def sort_by(self, keys: DeviceArray, values: DeviceArray) -> DeviceArray:
        """The values in the ascending order of their keys, which are integers."""
        ...

    def download(self, array: DeviceArray) -> NDArray[Any]:
        """The array on the host, after all launches so far."""
        ...

    def launch(self, name: str, *arguments: Any) -> None:
        """Run a kernel over the whole device; may return before it is done."""
        ...

    def stream(self, words: int) -> Stream:
        """A stream with a buffer of ``words`` words of 64 bits."""
        ...


Compiler = Callable[[str, str, int], Program]
"""Makes a program of a source text, its main kernel's name and the threads per block."""
