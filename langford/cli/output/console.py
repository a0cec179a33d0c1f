"""The console of a command on a terminal: remarks, a progress line, and signals that ask to stop."""

from __future__ import annotations

from jobs.console import Console, Step
from langford.cli.output.display import say
from langford.cli.output.progress import ProgressLine
from langford.cli.stop_signals import StopSignals


class Terminal(Console):
    """Prints remarks on standard error, above the progress line if there is one; a signal asks to stop."""

    def __init__(self, line: ProgressLine | None = None, stop: StopSignals | None = None) -> None:
        self.line, self.stop = line, stop

    def say(self, message: str) -> None:
        (say if self.line is None else self.line.remark)(message)

    def show(self, step: Step) -> None:
        if self.line is not None:
            self.line.update(step.tasks_done, step.work_done, step.seconds_left)

    def stop_reason(self) -> str | None:
        return None if self.stop is None else self.stop.reason()
