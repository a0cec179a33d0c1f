"""Runs of campaigns: their workers on this machine, behind a task server and on MPI ranks; tuning, diagnosis."""
