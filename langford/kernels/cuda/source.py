"""The CUDA sources with the definitions that fit them to a problem."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent


def with_definitions(name: str, definitions: Mapping[str, object]) -> str:
    """The text of a kernel source, its compile-time parameters defined in front.

    A sequence becomes a comma-separated list.
    """
    lines = []
    for key, value in definitions.items():
        text = ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(int(value))  # type: ignore[call-overload]
        lines.append(f"#define {key} {text}\n")
    return "".join(lines) + (FOLDER / name).read_text()
