"""Signs that took seconds to find, kept in the folder of the compiled kernels of this version of the code."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from langford.durable import replace_file
from langford.kernels.cache import NoCacheFolder, cache_folder

Signs = list[list[int]]


def kept(name: str, find: Callable[[], Signs]) -> Signs:
    """The signs of that name from their file, or found and written there; a file that is damaged is replaced."""
    try:
        file = cache_folder() / f"signs-{_digest(name)[:32]}.json"
    except NoCacheFolder:
        return find()
    signs = _read(file)
    if signs is None:
        signs = find()
        with suppress(OSError):
            replace_file(file, json.dumps({"signs": signs, "sha256": _digest(json.dumps(signs))}).encode())
    return signs


def _read(file: Path) -> Signs | None:
    """The signs of a file; None when there is none, or it does not hold what was written."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        document = json.loads(file.read_bytes())
        signs: Signs = document["signs"]
        if document["sha256"] == _digest(json.dumps(signs)):
            return signs
    return None


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
