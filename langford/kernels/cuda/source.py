"""The CUDA programs: source files put together, with the definitions that fit them to a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).parent

POLYPHASE = (
    "integers.cuh",
    "components.cuh",
    "matrix.cuh",
    "odd_sums.cuh",
    "even_sums.cuh",
    "polyphase.cu",
    "tables.cu",
)
GODFREY = ("integers.cuh", "godfrey.cu")
MILLER = ("integers.cuh", "search.cuh", "miller.cu")
REGULAR = ("integers.cuh", "search.cuh", "regular.cu")

Definitions = Mapping[str, int | Sequence[int]]


def source_of(files: Sequence[str], definitions: Definitions) -> str:
    """One source text: the compile-time parameters, then the files.

    A sequence becomes a comma-separated list.
    """
    lines = [f"#define {key} {_text(value)}\n" for key, value in definitions.items()]
    return "".join([*lines, *((FOLDER / name).read_text() for name in files)])


def _text(value: int | Sequence[int]) -> str:
    if isinstance(value, Sequence):
        return ", ".join(map(_text, value))
    return f"{int(value)}" + "ull" * (value >= 2**31)
