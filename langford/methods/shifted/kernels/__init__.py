"""The kernels of the shifted sum: ``tiles`` for the processor, ``shifted.cu`` for GPUs.

The other modules emit the vectors of ``tiles``.  From ``patterns`` and ``vectors`` the method also uses tables and
sizes.
"""
