"""Where a result comes from: versions and a hash of the code that computes."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import cache
from pathlib import Path

from langford.errors import MachineFailed
from langford.loading import load
from langford.version import __version__

COMPUTING = ("arithmetic", "kernels", "methods")


class InstallationChanged(MachineFailed):
    """The files of this program are not those that it started with: its results could not say what made them."""


@cache
def kernel_hash() -> str:
    """First 16 hex digits of the SHA-256 of every source file that takes part in counting.

    They are read once, when this process first asks.  Raises InstallationChanged when there is none.
    """
    return _hash_now()


def require_unchanged(kernels: str) -> None:
    """Raises InstallationChanged unless this is the hash of the source files as they are now."""
    now = _hash_now()
    if now != kernels:
        raise InstallationChanged(
            f"this program was changed while it ran: its kernels were {kernels} and are {now} now; start it again"
        )


def _hash_now() -> str:
    root = Path(__file__).parent
    files = [file for folder in COMPUTING for file in sorted((root / folder).rglob("*"))]
    sources = [file for file in files if file.suffix in (".py", ".cu", ".cuh", ".h")]
    if not sources:
        raise InstallationChanged(f"no kernels are left in {root}: install this program again, and start it again")
    digest = hashlib.sha256()
    for file in sources:
        digest.update(file.relative_to(root).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def versions() -> dict[str, str]:
    # Loaded now: it takes longer than all else that `langford --version` loads.
    version, not_found = (load(f"importlib.metadata:{name}") for name in ("version", "PackageNotFoundError"))
    installed = {"langford": __version__}
    for package in ("numba", "numpy", "gmpy2", "cupy-cuda12x", "cupy-cuda13x"):
        with suppress(not_found):
            installed[package] = version(package)
    return installed
