"""numba kernels.  Importing this package puts numba's cache where it is safe (kernels/cache.py);
``NUMBA_CACHE_DIR`` overrides it."""

from __future__ import annotations

import os

import numba

from langford.kernels.cache import cache_folder
from langford.kernels.cpu.compiled import save_one_at_a_time, spare_linear_algebra
from langford.process import is_ours

if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(cache_folder())
save_one_at_a_time()
if is_ours():
    spare_linear_algebra()
