"""numba kernels of the irregular problems; their cache is where that of the counting kernels is."""

from __future__ import annotations

import langford.kernels.cpu  # noqa: F401 -- puts numba's cache where it is safe
