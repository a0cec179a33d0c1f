"""Programs in CUDA C++: their text, their compilation, and their launch on a GPU or on the processor.

The counting methods and the irregular problems use it alike.  It knows no kernel: ``kernels/cuda`` and
``irregular/cuda`` have the sources.  It uses the folder of compiled code (``kernels/cache.py``) and nothing else of
the kernels.

- ``program``: the text of a program, and the interface of a compiled one (Program, Stream, Compiler);
- ``runtime``: programs on a GPU, by NVRTC and CuPy, and the GPUs of this machine;
- ``host``: the same programs on the processor, by a C++ compiler and ``host.h``.
"""
