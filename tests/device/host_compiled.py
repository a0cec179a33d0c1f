"""CUDA kernels compiled for the host: their arithmetic, thread by thread, without a GPU."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from langford.kernels.cuda.source import FOLDER

BLOCKS = 2
_FOLDER = Path(tempfile.mkdtemp(prefix="langford-host-"))

LAUNCHER = """
extern "C" void launch_polyphase(
    const i64 *us, const i64 *u_weights, const i64 *u_limits, int count, i64 first,
    int bits, const u32 *members, const u32 *rows, const u16 *keys, int v_weight,
    i64 *limbs, i64 *residues, u64 *survivors) {
    launch(BLOCKS, THREADS, [&] {
        polyphase(us, u_weights, u_limits, count, first, bits, members, rows, keys, v_weight, limbs,
                  residues, survivors);
    });
}
"""


class HostKernel:
    """A kernel run by fibers on the host."""

    def __init__(self, source: str, threads: int) -> None:
        name = _FOLDER / hashlib.sha256(source.encode()).hexdigest()[:16]
        text = f'#include "{FOLDER}/host.h"\n#define BLOCKS {BLOCKS}\n{source}\n{LAUNCHER}'
        name.with_suffix(".cpp").write_text(text)
        compiler = ["g++", "-std=c++20", "-O2", "-fwrapv", "-shared", "-fPIC", "-w"]
        subprocess.run(
            [*compiler, str(name.with_suffix(".cpp")), "-o", str(name.with_suffix(".so"))], check=True
        )
        self._launch = ctypes.CDLL(str(name.with_suffix(".so"))).launch_polyphase

    def upload(self, array: Any) -> Any:
        return np.ascontiguousarray(array).copy()

    def download(self, array: Any) -> Any:
        return array

    def launch(self, *arguments: Any) -> None:
        self._launch(*[
            ctypes.c_void_p(each.ctypes.data) if isinstance(each, np.ndarray)
            else (ctypes.c_int64 if isinstance(each, np.int64) else ctypes.c_int)(int(each))
            for each in arguments
        ])
