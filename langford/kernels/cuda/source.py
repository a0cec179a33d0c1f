"""The CUDA programs: a source file and the definitions that fit it to a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).parent
"""Where the sources are, which include one another by name: a path for every compiler to look in."""

Definitions = Mapping[str, int | Sequence[int]]
"""Compile-time parameters by name; a sequence becomes a comma-separated list."""


def source_of(file: str, definitions: Definitions) -> str:
    """The text to compile: the definitions, then the file."""
    lines = [f"#define {key} {_text(value)}\n" for key, value in definitions.items()]
    return "".join([*lines, f'#include "{file}"\n'])


def _text(value: int | Sequence[int]) -> str:
    if isinstance(value, Sequence):
        return ", ".join(map(_text, value))
    return f"{int(value)}" + "ull" * (value >= 2**31)
