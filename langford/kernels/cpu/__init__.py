"""numba kernels.  Importing this package puts numba's cache where it is safe.

The cache is per host and per source: compiled code of another machine or of another
version of these kernels is never loaded, and nothing is written to a shared home or next
to an installed package.  ``NUMBA_CACHE_DIR`` overrides it.
"""

from __future__ import annotations

import os
import platform
import tempfile
from pathlib import Path

from langford.provenance import kernel_hash


def cache_folder() -> Path:
    """Where compiled kernels are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(base) / "langford" / f"{platform.node()}-{kernel_hash()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    except OSError:
        return Path(tempfile.gettempdir()) / f"langford-{os.getuid()}-{kernel_hash()}"


if "NUMBA_CACHE_DIR" not in os.environ:
    import numba

    numba.config.CACHE_DIR = str(cache_folder())
