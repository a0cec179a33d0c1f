"""Where compiled kernels are kept: per host and per source.

Compiled code of another machine or of another version of the kernels is never loaded, and nothing is
written to a shared home or next to an installed package.
"""

from __future__ import annotations

import os
import platform
import tempfile
from pathlib import Path

from langford.provenance import kernel_hash


def cache_folder() -> Path:
    """The folder, created if need be."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(base) / "langford" / f"{platform.node()}-{kernel_hash()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"langford-{os.getuid()}-{kernel_hash()}"
        folder.mkdir(parents=True, exist_ok=True)
    return folder
