"""Where a result comes from: versions and a hash of the code that computes."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import cache
from pathlib import Path

from langford.loading import load
from langford.version import __version__

COMPUTING = ("arithmetic", "kernels", "methods")


@cache
def kernel_hash() -> str:
    """First 16 hex digits of the SHA-256 of every source file that takes part in counting."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for folder in COMPUTING:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".py", ".cu", ".cuh", ".h"):
                digest.update(file.relative_to(root).as_posix().encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def versions() -> dict[str, str]:
    """Versions of this package and of what its kernels are compiled with."""
    # Loaded now: it takes longer than all else that `langford --version` loads.
    version, not_found = (load(f"importlib.metadata:{name}") for name in ("version", "PackageNotFoundError"))
    installed = {"langford": __version__}
    for package in ("numba", "numpy", "gmpy2", "cupy-cuda12x", "cupy-cuda13x"):
        with suppress(not_found):
            installed[package] = version(package)
    return installed
