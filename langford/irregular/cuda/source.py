"""The CUDA programs of the irregular problems: a file with the types that it is compiled for."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

FOLDER = Path(__file__).parent
FILES = (
    "bfs.cu", "check.cu", "components.cu", "cycles.cu", "kronecker.cu", "partition.cu", "passes.cu", "solve.cu",
    "tree.cu", "treefix.cu",
)  # fmt: skip
MAIN = {
    "bfs.cu": "search",
    "check.cu": "check_edges",
    "components.cu": "propagate",
    "cycles.cu": "iterate",
    "kronecker.cu": "generate",
    "partition.cu": "search_level",
    "passes.cu": "accumulate",
    "solve.cu": "solve",
    "tree.cu": "jump",
    "treefix.cu": "scan_vertices",
}
"""Of each file the kernel that decides how many blocks fill a GPU."""
THREADS = 256
_INCLUDE = re.compile(r'^#include "(.+)"\n', re.MULTILINE)
_NAMES = {"int32": "int", "int64": "i64", "uint32": "u32", "uint64": "u64", "float32": "float", "float64": "double"}


def source_of(*files: str, **types: DTypeLike) -> str:
    """The text to compile: the types by their names in the files, then the files with what they include, once."""
    lines = [f"#define THREADS {THREADS}\n"]
    lines += [f"#define {name} {_NAMES[np.dtype(kind).name]}\n" for name, kind in sorted(types.items())]
    included: set[str] = set()
    return "".join([*lines, *(_whole(file, included) for file in files)])


def _whole(file: str, included: set[str]) -> str:
    """A file with what it includes in the places where it does, each file once."""
    if file in included:
        return ""
    included.add(file)
    return _INCLUDE.sub(lambda found: _whole(found[1], included), (FOLDER / file).read_text())
