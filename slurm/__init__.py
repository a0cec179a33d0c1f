"""Campaigns on a cluster: a keeper of its queue, behind a Protocol the queue system, and SLURM's own."""

from slurm.commands import SlurmScheduler
from slurm.keeper import QueueKeeper
from slurm.scheduler import Element, Scheduler
from slurm.script import Resources, array_script, reservation_script

__all__ = [
    "Element",
    "QueueKeeper",
    "Resources",
    "Scheduler",
    "SlurmScheduler",
    "array_script",
    "reservation_script",
]
