"""numba kernels of the irregular problems."""
