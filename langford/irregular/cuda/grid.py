"""Kernels in which all blocks wait for each other (grid.cuh)."""

GATE_WORDS = 3
"""As in grid.cuh."""
