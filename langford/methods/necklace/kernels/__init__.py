"""The kernels of the sum over necklaces: ``necklace`` for the processor, ``necklace.cu`` for GPUs."""
