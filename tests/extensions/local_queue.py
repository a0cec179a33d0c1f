"""A queue system that runs the elements of its arrays as processes of this machine, some at a time."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from slurm import Element
from slurm.errors import SubmissionRefused

HEADER = "# elements: "


def local_script(elements: int, command: Sequence[str]) -> str:
    """The text of a job script of :class:`LocalQueue`."""
    return f"#!/bin/sh\n{HEADER}{elements}\nexec {shlex.join(command)}\n"


class LocalQueue:
    """Implements slurm.Scheduler.

    Attributes:
        most_at_once: elements that ran at the same time, at most so far.
    """

    def __init__(self, folder: Path, slots: int) -> None:
        """``folder``: for scripts and logs; ``slots``: elements that may run at the same time."""
        self._folder, self._slots = folder, slots
        self._jobs = 0
        self._waiting: list[tuple[str, Path]] = []
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.most_at_once = 0

    def submit(self, script: str) -> str:
        """Queue the elements of a script; the job's id.  Raises SubmissionRefused."""
        directive = script.splitlines()[1]
        if not directive.startswith(HEADER):
            raise SubmissionRefused(
                f"the second line of the script must be {HEADER!r} and a number, not {directive!r}"
            )
        self._jobs += 1
        file = self._folder / f"{self._jobs}.sh"
        file.write_text(script)
        elements = int(directive.removeprefix(HEADER))
        self._waiting += [(f"{self._jobs}_{index}", file) for index in range(elements)]
        self._schedule()
        return str(self._jobs)

    def elements(self, name: str) -> list[Element]:
        """What waits or runs."""
        self._schedule()
        waiting = [Element(element, "waiting") for element, _ in self._waiting]
        return waiting + [Element(element, "running") for element in self._running]

    def largest_array(self) -> int:
        """Three elements."""
        return 3

    def cancel_pending(self, name: str) -> None:
        """Forget what waits."""
        self._waiting.clear()

    def end(self) -> None:
        """Kill what still runs."""
        for process in self._running.values():
            process.kill()
            process.wait()

    def _schedule(self) -> None:
        """Start what waits wherever a slot is free."""
        self._running = {element: process for element, process in self._running.items() if process.poll() is None}
        while self._waiting and len(self._running) < self._slots:
            element, file = self._waiting.pop(0)
            with (self._folder / f"{element}.log").open("wb") as log:
                self._running[element] = subprocess.Popen(["sh", str(file)], stdout=log, stderr=log)
        self.most_at_once = max(self.most_at_once, len(self._running))
