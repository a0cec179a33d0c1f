"""The GPU of an array, with the programs of the irregular problems; in tests, the host shim."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from langford.errors import BadInput
from langford.irregular.arrays import Array, module_of
from langford.irregular.cuda.source import MAIN, THREADS, source_of
from langford.kernels.gpu.cuda import CudaProgram
from langford.kernels.gpu.program import Compiler, Program
from langford.kernels.gpu.runtime import cupy_for

GATE_WORDS = 3
"""Of the gate at which all blocks of a launch wait for each other; as in grid.cuh."""


class Gpu:
    """Arrays and kernels of one device.

    Attributes:
        xp: cupy; numpy behind the host shim.
    """

    def __init__(self, xp: ModuleType, compiler: Compiler) -> None:
        self.xp: Any = xp
        self._compiler = compiler
        self._programs: dict[Any, Program] = {}
        self._resident: dict[Any, int] = {}

    def program(self, file: str, **types: DTypeLike) -> Program:
        """The compiled program of a file for these types (source.source_of)."""
        key = _key(file, types)
        if key not in self._programs:
            program = self._compiler(source_of(file, **types), MAIN[file], THREADS)
            # In this order: another thread that finds the program asks for its number of blocks.
            self._resident[key] = program.blocks
            self._programs[key] = program
        return self._programs[key]

    def meeting(self, file: str, most: int | None = None, **types: DTypeLike) -> Program:
        """The same for launches whose blocks wait for each other: all of them are on the device at the same time.

        Args:
            file, types: as for program.
            most: blocks per multiprocessor; None: as many as there is room for.
        """
        program = self.program(file, **types)
        # The host runs blocks one after the other, so a block must not wait for another one.
        resident = 1 if self.xp is np else self._resident[_key(file, types)]
        program.blocks = resident if most is None else min(resident, most * program.multiprocessors)
        return program

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> Array:
        """An array of zeros on the device."""
        return self.xp.zeros(shape, dtype)

    def put(self, array: Any, dtype: DTypeLike) -> Array:
        """An array on the device, C-contiguous, of this type."""
        return self.xp.ascontiguousarray(self.xp.asarray(array, dtype))

    def on_host(self, array: Array) -> Any:
        """A copy on the host, after all launches."""
        return array.copy() if self.xp is np else array.get()

    def free_bytes(self) -> int:
        """Memory of the device that is free."""
        return int(self.xp.cuda.runtime.memGetInfo()[0])

    def wait(self) -> None:
        """Return when the device has done all that was started."""
        if self.xp is not np:
            self.xp.cuda.runtime.deviceSynchronize()

    def flag(self, array: Array) -> bool:
        """Whether the first element is not zero, after all launches; it is cleared."""
        seen = bool(array[0])
        array[0] = 0
        return seen


def _key(file: str, types: Mapping[str, DTypeLike]) -> Any:
    return file, *sorted((name, np.dtype(kind)) for name, kind in types.items())


@cache
def gpu_by_number(index: int) -> Gpu:
    """A GPU of this machine; raises NoGpu."""
    return Gpu(cupy_for(index), partial(CudaProgram, index))


def gpu_of(array: Array) -> Gpu:
    """The GPU where an array of CuPy is; raises BadInput where CuPy works on another one."""
    assert module_of(array) is not np
    index = int(array.device.id)
    gpu = gpu_by_number(index)
    current = int(gpu.xp.cuda.runtime.getDevice())
    if current != index:
        raise BadInput(
            f"an array is on GPU {index}, and GPU {current} is in use: work `with cupy.cuda.Device({index}):`"
        )
    return gpu
