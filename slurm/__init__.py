"""Campaigns on a SLURM cluster: sbatch scripts, and a keeper of a best-effort queue."""

from slurm.keeper import QueueKeeper
from slurm.scheduler import Element, Scheduler
from slurm.script import Resources, array_script, reservation_script

__all__ = ["Element", "QueueKeeper", "Resources", "Scheduler", "array_script", "reservation_script"]
