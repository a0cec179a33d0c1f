"""The GPUs of this machine, by CuPy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from langford.errors import LangfordError
from langford.kernels.cache import refuse_open_caches
from langford.machine.kept import can_keep
from langford.version import install

CACHES = {
    "CUPY_CACHE_DIR": ".cupy/kernel_cache",
    "CUPY_CUDA_LIB_PATH": ".cupy/cuda_lib",
    "CUDA_CACHE_PATH": ".nv/ComputeCache",
}
"""Folders from which CuPy and the driver load code: the variable of each, and its place in the home folder."""


class NoGpu(LangfordError):
    """No usable GPU, or CuPy is missing; the message says what to install."""


def device_count() -> int:
    """Number of GPUs; raises NoGpu when there is none."""
    return int(_cupy().cuda.runtime.getDeviceCount())


def device_name(index: int) -> str:
    """The GPU's model, as the manufacturer names it; raises NoGpu when there is no GPU of this number."""
    count = device_count()
    if index >= count:
        raise NoGpu(f"there is no GPU {index} here: this machine has {count}, numbered from 0")
    name: bytes = _cupy().cuda.runtime.getDeviceProperties(index)["name"]
    return name.decode()


def cupy_for(index: int) -> Any:
    """The module cupy, for a GPU of this machine; raises NoGpu when there is no GPU of this number."""
    device_name(index)
    return _cupy()


def device_memory(index: int) -> int:
    """Bytes of memory of a GPU; raises NoGpu when there is no GPU of this number."""
    device_name(index)
    return int(_cupy().cuda.runtime.getDeviceProperties(index)["totalGlobalMem"])


def is_lost(index: int) -> bool:
    """Whether a GPU refuses all further calls of this process, as after an illegal access to its memory."""
    cupy = _cupy()
    try:
        with cupy.cuda.Device(index):
            cupy.cuda.runtime.deviceSynchronize()
    except cupy.cuda.runtime.CUDARuntimeError:
        return True
    return False


def describe_gpus() -> list[str]:
    """One line per GPU: name, memory, compute capability, versions; raises NoGpu."""
    cupy = _cupy()
    runtime = cupy.cuda.runtime
    driver, toolkit = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    lines = []
    for index in range(runtime.getDeviceCount()):
        properties = runtime.getDeviceProperties(index)
        lines.append(
            f"{properties['name'].decode()}, {properties['totalGlobalMem'] / 2**30:.0f} GiB, compute capability "
            f"{properties['major']}.{properties['minor']}, driver for CUDA {driver // 1000}.{driver % 1000 // 10}, "
            f"runtime {toolkit // 1000}.{toolkit % 1000 // 10}, CuPy {cupy.__version__}"
        )
    return lines


def _cupy() -> Any:
    refuse_open_caches(CACHES)
    kernels = Path(os.environ.get("CUPY_CACHE_DIR") or Path.home() / CACHES["CUPY_CACHE_DIR"])
    if not can_keep(kernels, "CUPY_CACHE_DIR"):
        os.environ["CUPY_CACHE_IN_MEMORY"] = "1"  # CuPy would raise
    try:
        import cupy
    except ImportError as error:
        raise NoGpu(f"GPU kernels need CuPy: {install('cuda12')} or {install('cuda13')}") from error
    if not cupy.cuda.is_available():
        raise NoGpu("CuPy finds no GPU here; see nvidia-smi, or count on the CPU")
    return cupy
