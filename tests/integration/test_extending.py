"""What docs/extending.md says, done: each addition in one place."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from db import Ledger
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from slurm import Element, QueueKeeper
from slurm.errors import SubmissionRefused
from tests.command_line import COMMAND, ENVIRONMENT, Run

# -- a queue system ---------------------------------------------------------------------------


def local_script(elements: int, command: Sequence[str]) -> str:
    """The text of a job script of :class:`LocalQueue`."""
    return f"#!/bin/sh\n# elements: {elements}\nexec {shlex.join(command)}\n"


class LocalQueue:
    """A queue system that runs the elements of its arrays as processes of this machine, some at a time.

    Attributes:
        most_at_once: elements that ran at the same time, at most so far.
    """

    def __init__(self, folder: Path, slots: int) -> None:
        self._folder, self._slots = folder, slots
        self._jobs = 0
        self._waiting: list[tuple[str, Path]] = []
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.most_at_once = 0

    def submit(self, script: str) -> str:
        """Queue the elements of a script; the job's id.  Raises SubmissionRefused."""
        directive = script.splitlines()[1]
        if not directive.startswith("# elements: "):
            raise SubmissionRefused(f"the script does not say how many elements: {directive}")
        self._jobs += 1
        file = self._folder / f"{self._jobs}.sh"
        file.write_text(script)
        elements = int(directive.removeprefix("# elements: "))
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

    def _schedule(self) -> None:
        """Start what waits wherever a slot is free."""
        self._running = {element: process for element, process in self._running.items() if process.poll() is None}
        while self._waiting and len(self._running) < self._slots:
            element, file = self._waiting.pop(0)
            output = (self._folder / f"{element}.log").open("wb")
            self._running[element] = subprocess.Popen(
                ["sh", str(file)], stdout=output, stderr=output, env=ENVIRONMENT
            )
        self.most_at_once = max(self.most_at_once, len(self._running))

    @contextmanager
    def ended(self) -> Iterator[None]:
        """Kill what still runs at the end of the block."""
        try:
            yield
        finally:
            for process in self._running.values():
                process.kill()
                process.wait()


def test_a_queue_system_of_ones_own_completes_a_campaign(langford: Run, tmp_path: Path) -> None:
    key = PlanKey(Problem.langford(12), "polyphase", 8)
    assert langford("create", "langford", "12", "--depth", "8").returncode == 0
    ledger = Ledger(str(tmp_path / "langford.db"))
    campaign = ledger.campaign(key.name)
    options = ["--depth", "8", "--workers", "1", "--ledger", str(tmp_path / "langford.db")]
    command = [*COMMAND, "run", "langford", "12", *options]
    queue, remarks = LocalQueue(tmp_path, slots=2), list[str]()
    keeper = QueueKeeper(
        queue,
        key.name,
        lambda elements: local_script(elements, command),
        campaign.standing,
        most=5,
        seconds=0.5,
        say=remarks.append,
    )
    with queue.ended():
        assert keeper.run() is None
    logs = "".join(file.read_text() for file in tmp_path.glob("*.log"))
    assert queue.most_at_once == 2
    assert "0 elements present, 3 more submitted as job 1" in remarks[0], (remarks, logs)
    assert "3 elements present, 2 more submitted as job 2" in remarks[1], (remarks, logs)
    assert not [element for element in queue.elements(key.name) if element.state == "waiting"]
    outcome = json.loads(langford("result", key.name, "--json").stdout)
    assert (outcome["count"], outcome["tasks"]) == ("108144", len(plan_of(key).work))
