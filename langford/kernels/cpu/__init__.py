"""numba kernels.  Importing this package puts numba's cache where it is safe (kernels/cache.py);
``NUMBA_CACHE_DIR`` overrides it, if no other user can put code there."""

from __future__ import annotations

import os

import numba

from langford.kernels.cache import cache_folder, refuse_open_caches
from langford.kernels.cpu.compiled import load_private_code, save_one_at_a_time, spare_linear_algebra
from langford.process import is_ours

refuse_open_caches()
numba.config.CACHE_DIR = os.environ.get("NUMBA_CACHE_DIR") or str(cache_folder())
load_private_code()
save_one_at_a_time()
if is_ours():
    spare_linear_algebra()
