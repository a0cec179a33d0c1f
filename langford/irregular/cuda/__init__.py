"""CUDA kernels of the irregular problems, and what drives them."""
