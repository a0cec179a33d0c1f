"""What the queue keeper asks of a cluster's queue system; SLURM's is slurm/commands.py.

Another queue system is one class with these four methods, and a function from a number of elements to the
text of a job script that it submits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Element:
    """One element of a job array that the queue system still knows as waiting, running or ending.

    One that is ending may have been preempted, and then waits again.

    Attributes:
        id: what the queue system calls it.
        state: the queue system's word for its state; SLURM's are PENDING, RUNNING, COMPLETING, …
    """

    id: str
    state: str


class Scheduler(Protocol):
    """A queue system; every method raises SchedulerSilent when it does not answer now."""

    def submit(self, script: str) -> str:
        """Submit the text of an array's script; the job's id.  Raises SubmissionRefused."""
        ...

    def elements(self, name: str) -> Sequence[Element]:
        """This user's array elements of the jobs of that name, from one question."""
        ...

    def largest_array(self) -> int:
        """How many elements one array may have."""
        ...

    def cancel_pending(self, name: str) -> None:
        """Cancel this user's elements of the jobs of that name that have not started."""
        ...
