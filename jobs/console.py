"""The user's side of a long computation: it gets remarks and progress, and may ask the computation to stop."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """How far a campaign and one run of it are."""

    tasks_done: int  # number of tasks of the campaign that are done
    work_done: float
    tasks_here: int  # how many of them this run has done
    work_here: float
    seconds_left: float | None  # until the campaign is done; None: unknown


class Console:
    """A console that shows nothing and never asks to stop; commands and tests override what they need."""

    def say(self, message: str) -> None:
        """Take a remark for the user."""

    def show(self, step: Step) -> None:
        """Take the progress of a run; called at its start, and often while it works."""

    def stop_reason(self) -> str | None:
        """Why the computation is to stop at once, such as "SIGTERM"; None: it continues.  Called often."""
        return None


SILENT = Console()
