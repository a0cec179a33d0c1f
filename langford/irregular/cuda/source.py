"""The CUDA programs of the irregular problems: a file with the types that it is compiled for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from langford.kernels.gpu.program import defined, inlined

FOLDER = Path(__file__).parent
MAIN = {
    "bfs.cu": "search",
    "components.cu": "propagate",
    "cycles.cu": "iterate",
    "partition.cu": "search_level",
    "passes.cu": "accumulate",
    "solve.cu": "solve",
    "treefix.cu": "scan_vertices",
}
"""The files, each with the kernel that decides how many blocks fill a GPU."""
THREADS = 256
_NAMES = {"int32": "int", "int64": "i64", "uint32": "u32", "uint64": "u64", "float32": "float", "float64": "double"}


def source_of(*files: str, **types: DTypeLike) -> str:
    """The text to compile: the types by their names in the files, then the files with what they include, once."""
    names = {name: _NAMES[np.dtype(kind).name] for name, kind in sorted(types.items())}
    includes = "".join(f'#include "{file}"\n' for file in files)
    return defined({"THREADS": THREADS, **names}) + inlined(includes, FOLDER)
