"""The commands of a cluster: MPI ranks and SLURM jobs.  Others use ``ranks``, to fail together."""
