"""CUDA programs on a GPU: NVRTC compiles them, CuPy launches their kernels."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from langford.kernels.cache import kept_in
from langford.kernels.gpu.runtime import NoGpu, cupy_for
from langford.machine.kept import kept
from langford.machine.process import COMPILING, STEPS


class CudaProgram:
    """A compiled program on a GPU; implements kernels.gpu.program.Program.

    Its main kernel fills the GPU with blocks that use the program's shared memory.
    """

    def __init__(self, index: int, source: str, main: str, threads: int) -> None:
        """
        Args:
            index: number of the GPU.
            source: text of the program (kernels.gpu.program.source_of).
            main: name of the main kernel.
            threads: per block.

        Raises NoGpu.
        """
        self._cupy = cupy = cupy_for(index)
        self._device = cupy.cuda.Device(index)
        self._main, self._threads = main, threads
        with self._device:
            properties = cupy.cuda.runtime.getDeviceProperties(index)
            # Not cupy.RawModule: programs of one file would share a module, and so its constants.
            self._module = cupy.cuda.Module()
            self._module.load(machine_code(cupy, source, properties))
            self._shared = int(self._variable("shared_bytes", (1,), np.int32).get()[0])
            kernel, driver = self._module.get_function(main), cupy.cuda.driver
            driver.funcSetAttribute(
                kernel.ptr, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, self._shared
            )
            self.registers = int(driver.funcGetAttribute(driver.CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.ptr))
        self._kernels = {main: kernel}
        # The driver keeps 1 KiB of shared memory per block for itself.
        by_memory = properties["sharedMemPerMultiprocessor"] // (self._shared + 1024)
        # A thread gets registers in units of eight.
        by_registers = properties["regsPerMultiprocessor"] // (-(-self.registers // 8) * 8 * threads)
        by_threads = properties["maxThreadsPerMultiProcessor"] // threads
        self.multiprocessors = int(properties["multiProcessorCount"])
        self.blocks = self.multiprocessors * max(1, min(by_memory, by_registers, by_threads))
        self.memory = int(properties["totalGlobalMem"])

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> Any:
        with self._device:
            return self._cupy.zeros(shape, dtype)

    def upload(self, array: NDArray[Any]) -> Any:
        with self._device:
            return self._cupy.asarray(array)

    def set_constant(self, name: str, values: NDArray[Any]) -> None:
        with self._device:
            self._variable(name, values.shape, values.dtype).set(values)

    def _variable(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        cuda, size = self._cupy.cuda, int(np.prod(shape)) * np.dtype(dtype).itemsize
        memory = cuda.UnownedMemory(self._module.get_global_var(name), size, self._module, self._device.id)
        return self._cupy.ndarray(shape, dtype, cuda.MemoryPointer(memory, 0))

    def sort_by(self, keys: Any, values: Any) -> Any:
        with self._device:
            return values[self._cupy.argsort(keys)]

    def download(self, array: Any) -> NDArray[Any]:
        with self._device:
            on_host: NDArray[Any] = array.get()
        return on_host

    def launch(self, name: str, *arguments: Any) -> None:
        STEPS.made()
        with self._device:
            if name not in self._kernels:
                self._kernels[name] = self._module.get_function(name)
            shared = self._shared if name == self._main else 0
            self._kernels[name]((self.blocks,), (self._threads,), arguments, shared_mem=shared)

    def stream(self, words: int) -> CudaStream:
        return CudaStream(self, self._cupy, self._device, words)


class CudaStream:
    """Copies and launches beside those of other streams; see kernels.gpu.program.DeviceStream."""

    def __init__(self, program: CudaProgram, cupy: Any, device: Any, words: int) -> None:
        self._program, self._device = program, device
        with device:
            # Only from pinned memory do copies run beside kernels.
            memory = cupy.cuda.alloc_pinned_memory(8 * words)
            self.words: NDArray[np.uint64] = np.frombuffer(memory, np.uint64, words)
            self._there = cupy.empty(words, np.uint64)
            self._start = cupy.zeros(1, np.uint32)
            self._null, self._stream = cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True)

    @property
    def idle(self) -> bool:
        return bool(self._stream.done)

    def launch(self, name: str, used: int, *arguments: Any) -> None:
        with self._device:
            # The program's own work, zeroed results for instance, is on the null stream, which this one ignores.
            self._stream.wait_event(self._null.record())
        with self._device, self._stream:
            self._there[:used].set(self.words[:used], stream=self._stream)
            self._start.fill(0)
            self._program.launch(
                name, self._there, *(self._start if value is None else value for value in arguments)
            )

    def wait(self) -> None:
        self._stream.synchronize()


def machine_code(cupy: Any, source: str, properties: dict[str, Any]) -> bytes:
    """The machine code of a program for a GPU, kept or compiled now; raises NoGpu.

    CuPy's own compilation names no architecture with its specific features, which the
    warpgroup instructions of sm_90a need.
    """
    nvrtc = cupy.cuda.nvrtc
    capability = 10 * properties["major"] + properties["minor"]
    architecture = f"sm_{capability}" + "a" * (capability == 90)
    options = (f"--gpu-architecture={architecture}", "--std=c++17", "--device-int128")

    def compiled() -> bytes:
        program = nvrtc.createProgram(source, "langford.cu", [], [])
        try:
            with COMPILING.noted(f"for this GPU ({architecture})"):
                nvrtc.compileProgram(program, options)
        except nvrtc.NVRTCError as error:
            raise NoGpu(
                f"the kernels do not compile for {architecture}; send this log to the authors:\n"
                + nvrtc.getProgramLog(program)
            ) from error
        code: bytes = nvrtc.getCUBIN(program)
        return code

    key = hashlib.sha256(repr((source, options, nvrtc.getVersion())).encode()).hexdigest()[:24]
    return kept(kept_in(f"{key}.cubin"), compiled)
