"""How far a campaign is, and how much of that one run has done: numbers that belong together."""

from __future__ import annotations


class Tally:
    """The last known progress of a campaign, and the results of this run that the ledger has accepted since."""

    def __init__(self) -> None:
        self.tasks, self.work = 0, 0.0
        self.tasks_here, self.work_here = 0, 0.0

    def update(self, tasks: int, work: float) -> None:
        """Numbers below the known ones are out of date."""
        self.tasks, self.work = max(self.tasks, tasks), max(self.work, work)

    def add(self, work: float, here: bool = True) -> None:
        """``here``: whether this run computed it, not an earlier one that left it in the outbox."""
        self.tasks, self.work = self.tasks + 1, self.work + work
        if here:
            self.tasks_here, self.work_here = self.tasks_here + 1, self.work_here + work
