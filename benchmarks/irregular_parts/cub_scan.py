"""CUB's inclusive sum as a peer of ours: compiled with nvcc, called on arrays of CuPy's."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness import required

SOURCE = Path(__file__).with_suffix(".cu")


class CubScan:
    """The library, compiled for the GPU of this machine; it needs nvcc, which brings CUB's headers."""

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "cub_scan.so"
            options = "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-o", library
            subprocess.run(["nvcc", *options, SOURCE], check=True)
            self._library = ctypes.CDLL(str(library))

    def sums_of(self, values: Any) -> tuple[Any, Callable[[], None]]:
        """Where the sums of CuPy's int32, int64 or float64 `values` go, and what computes them."""
        cupy = required("cupy")
        function = self._library[f"{values.dtype}_sums"]
        sums, needed = cupy.empty_like(values), ctypes.c_size_t()
        arrays = [ctypes.c_void_p(array.data.ptr) for array in (values, sums)]
        count = ctypes.c_int(len(values))
        function(None, ctypes.byref(needed), *arrays, count)
        storage = cupy.empty(needed.value, cupy.uint8)

        def compute() -> None:
            error = function(ctypes.c_void_p(storage.data.ptr), ctypes.byref(needed), *arrays, count)
            if error:
                raise SystemExit(f"CUB's scan ended with CUDA's error {error}")

        return sums, compute
