"""numba kernels.  Importing this package puts numba's cache where it is safe (kernels/cache.py);
``NUMBA_CACHE_DIR`` overrides it, if no other user can put code there."""

from __future__ import annotations

import os

from langford.errors import BadInput

try:
    import numba
except ValueError as error:
    given = ", ".join(sorted(name for name in os.environ if name.startswith("NUMBA_")))
    if not given:
        raise
    raise BadInput(f"numba does not start with {given} ({error}): unset it, or give it another value") from error
if numba.config.DISABLE_JIT:
    raise BadInput(
        "NUMBA_DISABLE_JIT keeps numba from compiling, and no kernel runs without: unset it "
        "(or disable_jit in .numba_config.yaml)"
    )

from langford.kernels.cache import cache_folder, refuse_open_caches
from langford.kernels.cpu.compiled import load_private_code, save_one_at_a_time, spare_linear_algebra
from langford.machine.process import is_ours

refuse_open_caches()
numba.config.CACHE_DIR = os.environ.get("NUMBA_CACHE_DIR") or str(cache_folder())
load_private_code()
save_one_at_a_time()
if is_ours():
    spare_linear_algebra()
