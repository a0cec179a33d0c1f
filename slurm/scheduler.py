"""The queue system of a cluster, as the queue keeper needs it; slurm/commands.py is the one for SLURM.

Another queue system is one class with these four methods, and a function that gives the text of a job script
for a number of array elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Element:
    """An element of a job array that waits, runs or is ending.

    An element that is ending may have been preempted: then it waits again soon.
    """

    id: str
    state: str  # its state in the words of the queue system; for SLURM PENDING, RUNNING, COMPLETING, …
    reason: str = ""  # why it waits, in the words of the queue system; empty: unknown, or it does not wait


class Scheduler(Protocol):
    """A queue system; every method raises SchedulerSilent when it does not answer now."""

    def submit(self, script: str) -> str:
        """Submit a job; returns its id.  Raises SubmissionRefused.

        Args:
            script: the text of a job script, as :func:`slurm.script.array_script` writes it.
        """

    def elements(self, name: str) -> Sequence[Element]:
        """The array elements that wait or run, from one question to the queue system.

        Args:
            name: of this user's jobs.
        """

    def largest_array(self) -> int: ...

    def cancel_pending(self, name: str) -> None:
        """Cancel the elements that have not started.

        Args:
            name: of this user's jobs.
        """
