"""What computes: ``cpu`` for numba, ``cuda`` in CUDA C++, ``gpu`` to compile and launch that, ``cache`` for both.

Methods and irregular problems call ``cpu`` and ``cuda``.  Others use ``cache`` and ``gpu``, which know no kernel.
"""
