"""numba kernels.  They are kept where it is safe (kernels/cache.py), whatever numba's own settings name."""

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

from langford.kernels.cpu.compiled import spare_linear_algebra
from langford.kernels.cpu.keeping import keep_all
from langford.machine.process import is_ours

if is_ours():
    keep_all()
    spare_linear_algebra()
