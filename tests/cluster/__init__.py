"""Tests of SLURM and MPI."""
