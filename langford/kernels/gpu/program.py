"""The text of programs, and the interface of compiled ones, for a GPU and for its emulation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

DeviceArray = Any
"""An array on the device: CuPy's on a GPU, numpy's behind the host shim."""
SHARED = Path(__file__).parent
"""Where the files are that programs of several folders include."""
Definitions = Mapping[str, int | str | Sequence[int]]
"""Compile-time parameters by name; a sequence becomes a comma-separated list."""


class DeviceStream(Protocol):
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

    def stream(self, words: int) -> DeviceStream:
        """A stream with a buffer of ``words`` words of 64 bits."""
        ...


_INCLUDE = re.compile(r'^#include "(.+)"\n', re.MULTILINE)


Compiler = Callable[[str, str, int], Program]
"""Makes a program of a source text, its main kernel's name and the threads per block."""


def source_of(file: Path, definitions: Definitions) -> str:
    """The text of a program: the definitions, then the file with all that it includes."""
    return defined(definitions) + inlined(file.read_text(), file.parent)


def defined(definitions: Definitions) -> str:
    """The definitions as lines of a source."""
    return "".join(f"#define {key} {_text(value)}\n" for key, value in definitions.items())


def inlined(text: str, folder: Path, included: set[str] | None = None) -> str:
    """A text in which the files that it includes take the place of their first ``#include``.

    Args:
        text: lines of a source.
        folder: of the files, but for those in SHARED.
        included: names of files that are not included again; those of this text are added.
    """
    known = set() if included is None else included

    def content(found: re.Match[str]) -> str:
        if found[1] in known:
            return ""
        known.add(found[1])
        file = folder / found[1]
        return inlined((file if file.exists() else SHARED / found[1]).read_text(), folder, known)

    return _INCLUDE.sub(content, text)


def _text(value: int | str | Sequence[int]) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return ", ".join(map(_text, value))
    return f"{int(value)}" + "ull" * (value >= 2**31)
