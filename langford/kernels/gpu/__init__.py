"""Programs in CUDA C++: their text, their compilation, and their launch on a GPU or on the processor.

The counting methods and the irregular problems use it alike.  It knows no kernel: those are in their own
folders, and include ``integers.cuh`` from here.

- ``program``: the text of a program, and the interface of a compiled one (Program, DeviceStream, Compiler);
- ``runtime``: programs on a GPU, by NVRTC and CuPy, and the GPUs of this machine;
- ``host``: the same programs on the processor, by a C++ compiler and ``host.h``.
"""
