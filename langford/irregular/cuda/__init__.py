"""CUDA kernels of the irregular problems, and the modules that launch them."""
