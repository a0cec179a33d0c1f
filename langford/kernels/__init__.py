"""What the kernels of all methods, and of irregular problems, share.

``cpu`` is for kernels in numba, ``gpu`` for programs in CUDA C++, ``cache`` keeps what both compile, ``symmetries``
has those of packed signs.  The kernels of a method are in its folder.  Others use ``cache`` and ``gpu``.
"""
