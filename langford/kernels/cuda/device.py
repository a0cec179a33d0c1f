"""Compile and launch kernels on a GPU with CuPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from langford.errors import LangfordError


class NoGpu(LangfordError):
    """No usable GPU, or CuPy is missing; the message says what to install."""


class CudaKernel:
    """The kernel ``polyphase`` of a source on GPU number ``index``, filling that GPU."""

    def __init__(self, index: int, source: str, threads: int) -> None:
        self._cupy = cupy = _cupy()
        self._device = cupy.cuda.Device(index)
        with self._device:
            module = cupy.RawModule(code=source, options=("--std=c++17", "--device-int128"))
            self._kernel = module.get_function("polyphase")
            self._shared = int(cupy.ndarray(1, np.int32, module.get_global("shared_bytes")).get()[0])
            self._kernel.max_dynamic_shared_size_bytes = self._shared
            properties = cupy.cuda.runtime.getDeviceProperties(index)
        # The driver keeps 1 KiB of shared memory per block for itself.
        by_memory = properties["sharedMemPerMultiprocessor"] // (self._shared + 1024)
        by_registers = properties["regsPerMultiprocessor"] // (self._kernel.num_regs * threads)
        self._blocks = properties["multiProcessorCount"] * max(1, min(by_memory, by_registers))
        self._threads = threads

    def describe(self) -> dict[str, int]:
        """Registers and local bytes per thread, shared bytes per block, blocks of a launch."""
        return {
            "registers": self._kernel.num_regs, "local_bytes": self._kernel.local_size_bytes,
            "shared_bytes": self._shared, "blocks": self._blocks,
        }

    def upload(self, array: NDArray[Any]) -> Any:
        """The array on the GPU."""
        with self._device:
            return self._cupy.asarray(array)

    def download(self, array: Any) -> NDArray[Any]:
        """The array on the host, after all launches so far."""
        with self._device:
            found: NDArray[Any] = array.get()
        return found

    def launch(self, *arguments: Any) -> None:
        """Run the kernel; returns before it is done."""
        with self._device:
            self._kernel((self._blocks,), (self._threads,), arguments, shared_mem=self._shared)


def device_count() -> int:
    """Number of GPUs; raises NoGpu when there is none."""
    return int(_cupy().cuda.runtime.getDeviceCount())


def device_name(index: int) -> str:
    """The GPU's name, as its maker calls it."""
    name: bytes = _cupy().cuda.runtime.getDeviceProperties(index)["name"]
    return name.decode()


def _cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise NoGpu("GPU kernels need CuPy: pip install 'langford[cuda12]' or 'langford[cuda13]'") from error
    if not cupy.cuda.is_available():
        raise NoGpu("CuPy finds no GPU here; see nvidia-smi, or count on the CPU")
    return cupy
