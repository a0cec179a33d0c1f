"""The CUDA sources with the definitions that fit them to a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).parent


def with_definitions(name: str, definitions: Mapping[str, int | Sequence[int]]) -> str:
    """The text of a kernel source, its compile-time parameters defined in front.

    A sequence becomes a comma-separated list.
    """
    lines = [f"#define {key} {_text(value)}\n" for key, value in definitions.items()]
    return "".join(lines) + (FOLDER / name).read_text()


def _text(value: int | Sequence[int]) -> str:
    return ", ".join(map(str, value)) if isinstance(value, Sequence) else str(int(value))
