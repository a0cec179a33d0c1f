"""What a command would do, said instead of done: its tasks, its time, its memory, and where it would run."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass

import click

from langford.cli.output import display
from langford.cli.output.how_long import length
from langford.cli.output.terminal import show
from langford.devices import Device
from langford.words import duration, quantity, several

PROGRAM_BYTES, PROCESS_BYTES, TASK_BYTES = 150e6, 6e6, 60
"""Memory of a run with one process, of each further one (``benchmarks/farm.py pool``), and of each task."""
TASK_DISK_BYTES = 700
"""What a task takes in a ledger once it is done."""
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Say what would be done: tasks, time, memory and where; change nothing."
)


@dataclass(frozen=True)
class DryRun:
    """What a command would do."""

    what: str
    tasks: int | None  # how many tasks it would evaluate; None: many campaigns have them
    seconds: float  # expected on all devices; 0: moments
    devices: Sequence[Device]  # that would compute at the same time
    ledger: str = ""
    spread: float = 1.0  # the factor by which the seconds may be wrong

    @property
    def memory_bytes(self) -> float:
        """Memory of this machine that it would take; that of GPUs is left out."""
        return PROGRAM_BYTES + PROCESS_BYTES * (len(self.devices) - 1) + TASK_BYTES * (self.tasks or 0)

    @property
    def ledger_bytes(self) -> int | None:
        """What its results would take in the ledger; None: they are not kept, or it is not known."""
        return TASK_DISK_BYTES * self.tasks if self.ledger and self.tasks is not None else None

    @property
    def where(self) -> str:
        kept = "" if not self.ledger_bytes else f", {_bytes(self.ledger_bytes)} when all are done"
        place = f"{several(len(self.devices), self.devices[0].unit)} of {platform.node()}"
        return f"{place}; results in {self.ledger}{kept}" if self.ledger else place

    def lines(self) -> list[str]:
        each = ""
        if self.tasks and self.seconds:
            each = f", about {duration(self.seconds * len(self.devices) / self.tasks)} each"
        gpu = "" if self.devices[0].on_cores else ", and up to half of the memory of each GPU"
        return [
            self.what,
            *([] if self.tasks is None else [f"  tasks    {self.tasks:,}{each}"]),
            f"  time     {length(self.seconds, self.devices, self.spread) if self.seconds else 'moments'}",
            f"  memory   {_bytes(self.memory_bytes)}{gpu}",
            f"  where    {self.where}",
            "  nothing was changed: this was a dry run",
        ]

    def print(self, as_json: bool) -> None:
        if not as_json:
            show("\n".join(self.lines()))
            return
        display.print_json(
            {
                "dry_run": True,
                "what": self.what,
                "tasks": self.tasks,
                "seconds": self.seconds,
                "host": platform.node(),
                "device": self.devices[0].kind,
                "devices": len(self.devices),
                "memory_bytes": int(self.memory_bytes),
                "ledger": self.ledger or None,
                "ledger_bytes": self.ledger_bytes,
            }
        )


def _bytes(number: float) -> str:
    return f"about {quantity(float(f'{number:.2g}'))}B"
