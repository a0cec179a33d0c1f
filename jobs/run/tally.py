"""How far a campaign is, and how much of that one run has brought: numbers that belong together."""

from __future__ import annotations


class Tally:
    """What a run was told last of its campaign, and the results that the ledger has taken from it since.

    Attributes:
        tasks: number of tasks of the campaign that are done.
        work: their work, in the method's unit.
        tasks_here: how many of them this run has brought.
        work_here: their work.
    """

    def __init__(self) -> None:
        self.tasks, self.work = 0, 0.0
        self.tasks_here, self.work_here = 0, 0.0

    def told(self, tasks: int, work: float) -> None:
        """Take what the ledger, or its server, says; it may be some seconds old, and then is no news."""
        self.tasks, self.work = max(self.tasks, tasks), max(self.work, work)

    def brought(self, work: float, here: bool = True) -> None:
        """Note that the ledger took the first result of a task.

        Args:
            work: of the task.
            here: whether this run computed it; an earlier one may have left it behind.
        """
        self.tasks, self.work = self.tasks + 1, self.work + work
        if here:
            self.tasks_here, self.work_here = self.tasks_here + 1, self.work_here + work
