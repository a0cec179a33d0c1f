"""Campaigns on a cluster: a queue keeper, the Protocol of a queue system, and SLURM as such a system."""

from slurm.commands import SlurmScheduler
from slurm.keeper import QueueKeeper
from slurm.scheduler import Element, Scheduler
from slurm.script import Resources, array_script, job_name, reservation_script

__all__ = [
    "Element",
    "QueueKeeper",
    "Resources",
    "Scheduler",
    "SlurmScheduler",
    "array_script",
    "job_name",
    "reservation_script",
]
