"""Where a result comes from: versions and a hash of the code that computes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from langford.errors import MachineFailed
from langford.version import __version__

SHARED = ("arithmetic", "kernels")
"""The folders whose files every method uses."""
COMPUTING = (*SHARED, "methods")
SUFFIXES = (".py", ".cu", ".cuh", ".h")
ROOT = Path(__file__).parent


class InstallationChanged(MachineFailed):
    """The files of this program are not those that it started with: its results could not say what made them."""


@cache
def kernel_hash(*own: Path) -> str:
    """First 16 hex digits of the SHA-256 of source files that take part in counting.

    They are read once, when this process first asks.

    Args:
        own: the folders, or single files, of one method: the hash is of their files, and of those that all methods
            share.  None: of the files of all methods of this program.

    Raises InstallationChanged when there is none.
    """
    if not own:
        return _hash(kept_sources())
    chosen: dict[Path, bytes] = {}
    for place in (*own, *(ROOT / folder for folder in SHARED)):
        kept = {file: content for file, content in kept_sources().items() if place in (file, *file.parents)}
        chosen |= kept or _read(place)
    return _hash(dict(sorted(chosen.items())))


def require_unchanged(kernels: str) -> None:
    """Raises InstallationChanged unless this is the hash of the source files of all methods as they are now."""
    now = _hash(_sources())
    if now != kernels:
        raise InstallationChanged(
            f"the program was changed while it ran (kernels {kernels} before, {now} now): start it again"
        )


def _sources() -> dict[Path, bytes]:
    return {file: content for folder in COMPUTING for file, content in _read(ROOT / folder).items()}


kept_sources = cache(_sources)
"""As they were when this process first asked."""


def _read(place: Path) -> dict[Path, bytes]:
    """The source files of a folder, or a single one."""
    files = sorted(place.rglob("*")) if place.is_dir() else [place]
    return {file: file.read_bytes() for file in files if file.suffix in SUFFIXES}


def _hash(sources: Mapping[Path, bytes]) -> str:
    if not sources:
        raise InstallationChanged(f"no kernels are left in {ROOT}: reinstall the program, then start it again")
    digest = hashlib.sha256()
    for file, content in sources.items():
        digest.update((file.relative_to(ROOT) if ROOT in file.parents else Path(file.name)).as_posix().encode())
        digest.update(content)
    return digest.hexdigest()[:16]


@cache
def versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    installed = {"langford": __version__}
    for package in ("numba", "numpy", "gmpy2", "cupy-cuda12x", "cupy-cuda13x"):
        with suppress(PackageNotFoundError):
            installed[package] = version(package)
    return installed
