"""The CUDA C++ sources of the counting methods; ``kernels/gpu`` compiles them.  Methods name the files."""
