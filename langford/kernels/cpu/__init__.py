"""numba kernels.  Importing this package puts numba's cache where it is safe (kernels/cache.py);
``NUMBA_CACHE_DIR`` overrides it."""

from __future__ import annotations

import os

from langford.kernels.cache import cache_folder

if "NUMBA_CACHE_DIR" not in os.environ:
    import numba

    numba.config.CACHE_DIR = str(cache_folder())
