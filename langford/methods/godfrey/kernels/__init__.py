"""The kernels of Godfrey's sum: ``godfrey`` for the processor, ``godfrey.cu`` for GPUs."""
