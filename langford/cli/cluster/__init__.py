"""The commands of a cluster: MPI ranks and SLURM jobs."""
