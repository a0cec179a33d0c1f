"""The kernels of the searches: ``backtrack`` for the processor, ``miller.cu`` and ``regular.cu`` for GPUs."""
