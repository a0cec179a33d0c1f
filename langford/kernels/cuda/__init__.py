"""CUDA C++ kernels, compiled by CuPy for the GPU and, behind ``host.h``, by tests for the CPU."""
