"""How long a count will take, before it begins, what is possible instead, and what a dry run says of it."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf

import click

from langford.cli.output import display
from langford.cli.output.display import say, show
from langford.cost import on_idle, require_affordable, roughly, time_on, within_reach
from langford.devices import Device
from langford.errors import BadInput
from langford.kernels.gpu.runtime import NoGpu
from langford.methods import Method, fastest_method
from langford.methods.speed import Speed, expected_seconds, known_speed, tabled
from langford.problem import Problem
from langford.problem.variants import DIFFERENCES
from langford.words import DAY_SECONDS, duration, long_duration, quantity, several

SECONDS_WORTH_SAYING = 3.0
SECONDS_WORTH_ADVICE = 1800.0
ERROR_WORTH_SAYING = 1.5
SECONDS_WORTH_A_QUESTION = 3600.0
SMALLER = 12
"""How many smaller n are looked at for a count that is possible instead."""
MAX_ALTERNATIVE = 28
PROGRAM_BYTES, PROCESS_BYTES, TASK_BYTES = 150e6, 6e6, 60
"""Memory of a run with one process, of each further one (``benchmarks/farm.py pool``), and of each task."""
TASK_DISK_BYTES = 700
"""What a task takes in a ledger once it is done."""


@dataclass(frozen=True)
class Cost:
    """How long a computation takes, before it begins."""

    what: str
    seconds: float  # expected on all devices; 0: moments, or not known
    devices: Sequence[Device]  # that compute at the same time
    instead: Callable[[], str]  # returns what makes it shorter, or what else is possible, in words
    speed: Speed | None = None  # by which the seconds are expected; None: moments, or another forecast

    @classmethod
    def of_count(
        cls,
        problem: Problem,
        method: Method,
        devices: Sequence[Device],
        what: str = "",
        share: float = 1.0,
    ) -> Cost:
        """Of a count, or of a share of one."""
        speed = known_speed(problem, method, devices[0])
        seconds = 0.0 if speed is None else speed.expected(problem) / len(devices) * share
        instead = partial(advice, problem, seconds, devices)
        return cls(what or f"{problem} by {method.name}", seconds, devices, instead, speed)

    @property
    def length(self) -> str:
        """With the devices: "about 46 min on 2 idle cores"; from ERROR_WORTH_SAYING on both ends are said."""
        if self.ends == (1.0,):
            return time_on(self.seconds, self.devices)
        ends = " to ".join(long_duration(self.seconds * factor) for factor in self.ends)
        return f"{ends} on {on_idle(self.devices)}"

    def each(self, tasks: int) -> str:
        """How long a task takes on one device: "about 5 s", or both ends."""
        seconds = self.seconds * len(self.devices) / tasks
        ends = " to ".join(duration(seconds * factor) for factor in self.ends)
        return roughly(ends) if self.ends == (1.0,) else ends

    @property
    def ends(self) -> tuple[float, ...]:
        """The factors of the seconds that are said: one, or both ends."""
        error = 1.0 if self.speed is None else self.speed.error
        return (1.0,) if error < ERROR_WORTH_SAYING else (1 / error, error)

    def say(self, first: str = "") -> None:
        """Say it before a long computation; ``first``: what to say before the advice."""
        if self.seconds > SECONDS_WORTH_SAYING:
            say(f"{self.what}: {self.length}")
        if self.seconds > SECONDS_WORTH_ADVICE:
            say(f"{first}{self.instead()}")

    def require_consent(self, yes: bool, limit: float | None = None) -> None:
        """Ask before a computation of over an hour; one of over a year needs --yes.

        ``limit``: seconds after which it stops; None: it does not.  Raises TooExpensive or BadInput.
        """
        require_affordable(self.what, self.seconds, self.devices, yes, "--yes", self.instead)
        words = f"{self.what}: {time_on(self.seconds, self.devices)}"
        asks = min(self.seconds, inf if limit is None else limit) > SECONDS_WORTH_A_QUESTION and not yes
        if asks and not display.confirmed(f"{words}. Start?"):
            raise BadInput(f"{words}: {self.instead()}, or give --yes")


def takes_long(problem: Problem, method: Method, device_kind: str) -> bool:
    """Whether a count takes one core, or one GPU, of the benchmarks more than an hour; nothing is measured."""
    speed = tabled(problem, method, device_kind)
    return speed is not None and speed.expected(problem) > SECONDS_WORTH_A_QUESTION


def advice(problem: Problem, seconds: float, devices: Sequence[Device]) -> str:
    estimate = f"`langford estimate {' '.join(problem.arguments)}` approximates it now"
    if within_reach(seconds, devices):
        farm = "(`langford create`, then `langford serve`)"
        share = f"more GPUs {farm} make it shorter"
        if devices[0].on_cores:
            share = f"GPUs make it shorter (--device cuda), and more machines {farm}"
        return f"{share}; {estimate}" if seconds > DAY_SECONDS else share
    instead = _possible(problem, devices)
    return f"no cluster can finish it; {estimate}{f', and {instead}' if instead else ''}"


def _possible(problem: Problem, devices: Sequence[Device]) -> str:
    """Empty: there is none."""
    if problem.variant == DIFFERENCES:
        return ""
    choices = []
    for n in range(min(problem.order - 1, MAX_ALTERNATIVE), 0, -1)[:SMALLER]:
        try:
            smaller = problem.resized(n)
            if not smaller.obstruction:
                choices.append((smaller, fastest_method(smaller, devices[0].kind)))
        except (BadInput, NoGpu):  # without the GPU nothing is possible here
            break
    expected = expected_seconds(choices, devices) if choices else {}
    found = next((each for each in expected if expected[each] <= DAY_SECONDS), None)
    if found is None:
        return ""
    moments = expected[found] < SECONDS_WORTH_SAYING
    time = "takes moments" if moments else f"takes about {duration(expected[found])}"
    return f"{found} {time} here"


dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Print what would be done (tasks, time, memory, place); change nothing."
)


@dataclass(frozen=True)
class DryRun:
    cost: Cost
    tasks: int | None  # how many tasks it would evaluate; None: many campaigns have them
    ledger: str = ""
    host: str | None = field(default_factory=platform.node)  # None: a worker's, elsewhere

    @property
    def memory_bytes(self) -> float:
        """Memory of this machine that it would take; that of GPUs is left out."""
        return PROGRAM_BYTES + PROCESS_BYTES * (len(self.cost.devices) - 1) + TASK_BYTES * (self.tasks or 0)

    @property
    def ledger_bytes(self) -> int | None:
        """What its results would take in the ledger; None: they are not kept, or it is not known."""
        return TASK_DISK_BYTES * self.tasks if self.ledger and self.tasks is not None else None

    @property
    def where(self) -> str:
        devices = self.cost.devices
        kept = "" if not self.ledger_bytes else f", {_bytes(self.ledger_bytes)} when all are done"
        place = f"{several(len(devices), devices[0].unit)} of {self.host or 'a worker'}"
        return f"{place}; results in {self.ledger}{kept}" if self.ledger else place

    def lines(self) -> list[str]:
        seconds, devices = self.cost.seconds, self.cost.devices
        each = f", {self.cost.each(self.tasks)} each" if self.tasks and seconds else ""
        gpu = "" if devices[0].on_cores else ", and up to half of the memory of each GPU"
        return [
            self.cost.what,
            *([] if self.tasks is None else [f"  tasks    {self.tasks:,}{each}"]),
            f"  time     {self.cost.length if seconds else 'moments'}",
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
                "what": self.cost.what,
                "tasks": self.tasks,
                "seconds": self.cost.seconds,
                "host": self.host,
                "device": self.cost.devices[0].kind,
                "devices": len(self.cost.devices),
                "memory_bytes": int(self.memory_bytes),
                "ledger": self.ledger or None,
                "ledger_bytes": self.ledger_bytes,
            }
        )


def _bytes(number: float) -> str:
    return f"about {quantity(float(f'{number:.2g}'))}B"
