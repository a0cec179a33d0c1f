"""Where a result comes from: host, device, versions, and a hash of the code that computes; written and read."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from langford.errors import MachineFailed
from langford.version import __version__

ROOT = Path(__file__).parent
METHODS = "methods"
ELSEWHERE = ("cli", "irregular")
"""The folders of the library that no plan, no evaluator and no merge enters."""
SUFFIXES = (".py", ".cu", ".cuh", ".h")
Name = tuple[str, ...]
"""The folders of a file within the library, or from the root on, and its name."""
LONGEST = 200
"""The maximum number of characters of each text of a provenance that are kept when it is read."""


class InstallationChanged(MachineFailed):
    """The files of this program are not those that it started with: its results could not say what made them."""


@cache
def kernel_hash(*own: Path) -> str:
    """First 16 hex digits of the SHA-256 of the source files that plan, evaluate and merge.

    These are all files of the library but those ELSEWHERE.  They are read once, when this process first asks.

    Args:
        own: the folders, or single files, of one method: those of others do not take part.  None: all do.

    Raises InstallationChanged when there is none.
    """
    kept = kept_sources()
    if not own:
        return _hash(kept)
    chosen = {name: digest for name, digest in kept.items() if name[0] != METHODS or len(name) == 2}
    for place in own:
        of_place = place.relative_to(ROOT).parts if ROOT in place.parents else None
        files = {name: digest for name, digest in kept.items() if of_place and name[: len(of_place)] == of_place}
        chosen |= files or _digests(place)
    return _hash(dict(sorted(chosen.items())))


def require_unchanged(kernels: str) -> None:
    """Raises InstallationChanged unless this is the hash of the source files of all methods as they are now."""
    now = _hash(_sources())
    if now != kernels:
        raise InstallationChanged(
            f"the program was changed while it ran (kernels {kernels} before, {now} now): start it again"
        )


def _sources() -> dict[Name, bytes]:
    places = sorted(place for place in ROOT.iterdir() if place.name not in ELSEWHERE)
    return {name: digest for place in places for name, digest in _digests(place).items()}


kept_sources = cache(_sources)
"""The digest of each file, as it was when this process first asked."""


def _digests(place: Path) -> dict[Name, bytes]:
    """Of the source files of a folder, or of a single one."""
    files = sorted(place.rglob("*")) if place.is_dir() else [place]
    within = len(ROOT.parts) if ROOT in place.parents else 0
    return {
        file.parts[within:]: hashlib.sha256(file.read_bytes()).digest() for file in files if file.suffix in SUFFIXES
    }


def _hash(digests: Mapping[Name, bytes]) -> str:
    if not digests:
        raise InstallationChanged(f"no kernels are left in {ROOT}: reinstall the program, then start it again")
    together = hashlib.sha256()
    for name, digest in digests.items():
        together.update((name[-1] if Path(name[0]).is_absolute() else "/".join(name)).encode())
        together.update(digest)
    return together.hexdigest()[:16]


@cache
def versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    installed = {"langford": __version__}
    for package in ("numba", "numpy", "gmpy2", "cupy-cuda12x", "cupy-cuda13x"):
        with suppress(PackageNotFoundError):
            installed[package] = version(package)
    return installed


def written(kernels: str, device: str, **more: str) -> str:
    """The provenance of a result of this process, as JSON.

    Args:
        kernels: hash of the code that computed it.
        device: on which it was computed, see :attr:`langford.devices.Device.described`.
        more: further facts by name.
    """
    facts = {"host": platform.node(), "device": device, "kernels": kernels, **versions(), **more}
    return json.dumps(facts, sort_keys=True)


def read(text: str) -> dict[str, str]:
    """The facts of a provenance as short texts by name; empty if it cannot be read.

    >>> read('{"device": "cpu", "host": ""}'), read("[" * 4000)
    ({'device': 'cpu'}, {})
    """
    try:
        document: Any = json.loads(text)
        if not isinstance(document, dict):
            return {}
        return {
            str(name)[:LONGEST]: str(value)[:LONGEST] for name, value in sorted(document.items()) if value != ""
        }
    except (ValueError, RecursionError):
        return {}


def device_and_model(text: str) -> tuple[str, str]:
    """(which of its host, model) of a device as a provenance names it.

    >>> device_and_model("cuda:1 NVIDIA H200"), device_and_model("cpu")
    (('cuda:1', 'NVIDIA H200'), ('cpu', 'cpu'))
    """
    named = re.fullmatch(r"(cuda:\d{1,4}|cpu) (.+)", text, re.DOTALL)
    return (named[1], named[2]) if named else (text, text)
