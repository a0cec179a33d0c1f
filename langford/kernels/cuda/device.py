"""Compile and launch a kernel on the current GPU with CuPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from langford.errors import LangfordError


class NoGpu(LangfordError):
    """No usable GPU, or CuPy is missing; the message says what to install."""


class CudaKernel:
    """The kernel ``polyphase`` of a source on the current device, and its launch shape."""

    def __init__(self, source: str, threads: int) -> None:
        cupy = _cupy()
        options = ("--std=c++17", "--device-int128")
        module = cupy.RawModule(code=source, options=options)
        self._kernel = module.get_function("polyphase")
        self._shared = int(cupy.ndarray(1, np.int32, module.get_global("shared_bytes")).get()[0])
        self._kernel.max_dynamic_shared_size_bytes = self._shared
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        per_multiprocessor = max(1, properties["sharedMemPerMultiprocessor"] // (self._shared + 1024))
        self._blocks = properties["multiProcessorCount"] * min(
            per_multiprocessor, properties["maxThreadsPerMultiProcessor"] // threads
        )
        self._threads = threads

    def describe(self) -> dict[str, int]:
        """Registers, local and shared bytes per thread or block, blocks launched."""
        return {
            "registers": self._kernel.num_regs, "local_bytes": self._kernel.local_size_bytes,
            "shared_bytes": self._shared, "blocks": self._blocks,
        }

    def upload(self, array: NDArray[Any]) -> Any:
        return _cupy().asarray(array)

    def download(self, array: Any) -> NDArray[Any]:
        found: NDArray[Any] = array.get()
        return found

    def launch(self, *arguments: Any) -> None:
        self._kernel((self._blocks,), (self._threads,), arguments, shared_mem=self._shared)


def _cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise NoGpu("GPU kernels need CuPy: pip install 'langford[cuda12]' or 'langford[cuda13]'") from error
    if not cupy.cuda.is_available():
        raise NoGpu("CuPy finds no GPU here; see nvidia-smi, or count on the CPU")
    return cupy
