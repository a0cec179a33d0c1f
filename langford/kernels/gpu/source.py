"""The text of a program: definitions that fit it to a problem, and source files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "cuda"
"""The sources of the counting methods: a path for every compiler to look in."""

Definitions = Mapping[str, int | str | Sequence[int]]
"""Compile-time parameters by name; a sequence becomes a comma-separated list."""

_INCLUDE = re.compile(r'^#include "(.+)"\n', re.MULTILINE)


def source_of(file: str, definitions: Definitions) -> str:
    """The text of a program of a counting method: the definitions, then the file, which is in FOLDER."""
    return f'{defined(definitions)}#include "{file}"\n'


def defined(definitions: Definitions) -> str:
    """The definitions as lines of a source."""
    return "".join(f"#define {key} {_text(value)}\n" for key, value in definitions.items())


def inlined(text: str, folder: Path, included: set[str] | None = None) -> str:
    """A text in which the files that it includes take the place of their first ``#include``.

    Args:
        text: lines of a source.
        folder: of the files.
        included: names of files that are not included again; those of this text are added.
    """
    known = set() if included is None else included

    def content(found: re.Match[str]) -> str:
        if found[1] in known:
            return ""
        known.add(found[1])
        return inlined((folder / found[1]).read_text(), folder, known)

    return _INCLUDE.sub(content, text)


def _text(value: int | str | Sequence[int]) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return ", ".join(map(_text, value))
    return f"{int(value)}" + "ull" * (value >= 2**31)
