"""How long a count will take, before it begins, what is possible instead, and what a dry run says of it."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import click

from jobs.tuning import forecast
from langford.cli.output import display
from langford.cli.output.display import say, show
from langford.devices import Device
from langford.errors import BadInput, TooExpensive
from langford.methods import Method, fastest_method
from langford.problem import Problem
from langford.problem.variants import DIFFERENCES
from langford.words import DAY_SECONDS, YEAR_SECONDS, duration, quantity, several

SECONDS_WORTH_SAYING = 3.0
SECONDS_WORTH_ADVICE = 1800.0
SPREAD_WORTH_SAYING = 1.5
SECONDS_WORTH_A_QUESTION = 3600.0
MAX_SECONDS = float(YEAR_SECONDS)
"""Seconds after which nothing starts without --anyway."""
WORK_OF_A_GPU = 4.0**8
"""How many times the work that a core does in moments a GPU does in seconds."""
GROWTH_OF_A_SUM = 4.0
"""Factor in the work of a sum from n to n + 1."""
CORES_OF_A_GPU = 700
"""How many cores are as fast as a GPU, roughly: L(2,28) on an H100, and on two cores."""
MAX_CORE_YEARS = 10_000.0
"""What the largest clusters could finish: a hundred thousand cores for a month."""
SMALLER = 12
"""How many smaller n are looked at for a count that is possible instead."""
MAX_ALTERNATIVE = 28
POWERS = ((1e15, "quadrillion"), (1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
PROGRAM_BYTES, PROCESS_BYTES, TASK_BYTES = 150e6, 6e6, 60
"""Memory of a run with one process, of each further one (``benchmarks/farm.py pool``), and of each task."""
TASK_DISK_BYTES = 700
"""What a task takes in a ledger once it is done."""


def seconds_on(problem: Problem, method: Method, devices: Sequence[Device]) -> float:
    """Expected seconds of a count on these devices; 0 for a short one."""
    if devices[0].on_cores:
        return forecast.core_seconds(problem, method) / len(devices)
    start = method.speeds.forecast(problem.copies)
    if (start.growth or GROWTH_OF_A_SUM) ** (problem.n - start.instant) < WORK_OF_A_GPU:
        return 0.0
    return forecast.expected_seconds([(problem, method)], devices)[problem]


@dataclass(frozen=True)
class Cost:
    """How long a computation takes, before it begins."""

    what: str
    seconds: float  # expected on all devices; 0: moments, or not known
    devices: Sequence[Device]  # that compute at the same time
    instead: Callable[[], str]  # returns what makes it shorter, or what else is possible, in words
    spread: float = 1.0  # the factor by which the seconds may be wrong

    @classmethod
    def of_count(
        cls,
        problem: Problem,
        method: Method,
        devices: Sequence[Device],
        what: str = "",
        share: float = 1.0,
        spread: float = 1.0,
    ) -> Cost:
        """Of a count, or of a share of one."""
        seconds = seconds_on(problem, method, devices) * share
        instead = partial(advice, problem, seconds, devices)
        return cls(what or f"{problem} by {method.name}", seconds, devices, instead, spread)

    @property
    def length(self) -> str:
        """With the devices: "about 46 min on 2 cores"; from SPREAD_WORTH_SAYING on both ends are said."""
        if self.spread < SPREAD_WORTH_SAYING:
            return _about(self.seconds, self.devices)
        ends = " to ".join(long_duration(self.seconds * factor) for factor in (1 / self.spread, self.spread))
        return f"{ends} on {several(len(self.devices), self.devices[0].unit)}"

    def say(self, why: str = "", first: str = "") -> None:
        """Say it before a long computation.

        ``why``: the method was chosen; ``first``: what to say before the advice.
        """
        if self.seconds > SECONDS_WORTH_SAYING:
            say(f"{self.what}: {self.length}{f' ({why})' if why else ''}")
        if self.seconds > SECONDS_WORTH_ADVICE:
            say(f"{first}{self.instead()}")

    def require_consent(self, yes: bool, anyway: bool, limit: float | None = None) -> None:
        """Ask before a computation of over an hour; one of over a year needs --anyway.

        ``limit``: seconds after which it stops; None: it does not.  Raises TooExpensive or BadInput.
        """
        words = f"{self.what}: {_about(self.seconds, self.devices)}"
        if self.seconds > MAX_SECONDS and not anyway:
            raise TooExpensive(f"{words}: {self.instead()} (--anyway starts it regardless)")
        asks = min(self.seconds, limit or self.seconds) > SECONDS_WORTH_A_QUESTION and not (yes or anyway)
        if asks and not display.confirmed(f"{words}. Start?"):
            raise BadInput(f"{words}: {self.instead()}, or give --yes")


def long_duration(seconds: float) -> str:
    """A duration, in which many years are words that can be grasped.

    >>> long_duration(60), long_duration(3.3e7 * YEAR_SECONDS), long_duration(3.3e19 * YEAR_SECONDS)
    ('60 s', '33 million years', 'over 1,000 quadrillion years')
    """
    years = seconds / YEAR_SECONDS
    if years >= 1e18:
        return "over 1,000 quadrillion years"
    for size, name in POWERS:
        if years >= size:
            return f"{years / size:,.0f} {name} years"
    return duration(seconds)


def _about(seconds: float, devices: Sequence[Device]) -> str:
    number, unit = len(devices), devices[0].unit
    total, time = long_duration(seconds * number), long_duration(seconds)
    all_of_it = f" ({total.removesuffix(' years')} {unit} years)" if total.endswith(" years") and number > 1 else ""
    return f"{'' if time.startswith('over') else 'about '}{time} on {several(number, unit)}{all_of_it}"


def advice(problem: Problem, seconds: float, devices: Sequence[Device]) -> str:
    estimate = f"`langford estimate {' '.join(problem.arguments)}` approximates it now"
    cores = len(devices) * (1 if devices[0].on_cores else CORES_OF_A_GPU)
    if seconds * cores / YEAR_SECONDS <= MAX_CORE_YEARS:
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
                choices.append((smaller, fastest_method(smaller, devices[0]).method))
        except BadInput:
            break
    expected = forecast.expected_seconds(choices, devices) if choices else {}
    found = next((each for each in expected if expected[each] <= DAY_SECONDS), None)
    if found is None:
        return ""
    time = f"takes about {duration(expected[found])}" if expected[found] else "takes moments"
    return f"{found} {time} here"


dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Print what would be done (tasks, time, memory, place); change nothing."
)


@dataclass(frozen=True)
class DryRun:
    cost: Cost
    tasks: int | None  # how many tasks it would evaluate; None: many campaigns have them
    ledger: str = ""

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
        place = f"{several(len(devices), devices[0].unit)} of {platform.node()}"
        return f"{place}; results in {self.ledger}{kept}" if self.ledger else place

    def lines(self) -> list[str]:
        seconds, devices = self.cost.seconds, self.cost.devices
        each = f", about {duration(seconds * len(devices) / self.tasks)} each" if self.tasks and seconds else ""
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
                "host": platform.node(),
                "device": self.cost.devices[0].kind,
                "devices": len(self.cost.devices),
                "memory_bytes": int(self.memory_bytes),
                "ledger": self.ledger or None,
                "ledger_bytes": self.ledger_bytes,
            }
        )


def _bytes(number: float) -> str:
    return f"about {quantity(float(f'{number:.2g}'))}B"
