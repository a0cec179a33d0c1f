"""Groups of options that belong together; a command gets each group as one argument, a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import signature

import click

from langford.cli.options.common import (
    Command,
    anyway_option,
    chosen_cores,
    depth_option,
    device_option,
    expect_option,
    method_option,
    name_option,
    plan_seed_option,
    time_limit_option,
    verbose_option,
    workers_option,
    yes_option,
)
from langford.cli.output.answer import Asked
from langford.devices import Device, devices
from langford.methods import ChosenPlan, chosen_plan
from langford.problem import Problem
from langford.problem.grammar import COPIES, EMPTY, OVER, families, further_words
from langford.problem.variants import CYCLIC, DEFECT, DIFFERENCES, HOLE, MISSING, SECOND_HOLE


def gathered(
    argument: str, group: Callable[..., object], *options: Callable[[Command], Command]
) -> Callable[[Command], Command]:
    """A decorator that adds options to a command and collects their values in one argument.

    Args:
        group: makes its value; its parameters have the names of the options.
    """
    names = list(signature(group).parameters)

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(*arguments: object, **values: object) -> object:
            values[argument] = group(**{name: values.pop(name) for name in names})
            return command(*arguments, **values)

        decorated: Command = call  # type: ignore[assignment]  # click passes the arguments of the options
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


ABOUT = """
PROBLEM is in words: 12, skolem 9, near-skolem 12 missing 5, A059106 12; `langford families` lists all.
"""
"""A paragraph in the help of all commands that take a problem."""
OR_NAME = "NAME is a campaign in the ledger; it takes precedence over a problem.\n"
"""More of it where they also take the names of campaigns."""
OF_VERSION_1 = "differences", "places", "empty", "copies", "defect", "hole", "second-hole", "missing"
"""The options that named a problem in 1.x; they work through 2.x."""


def words_of(
    words: tuple[str, ...],
    differences: str | None,
    places: str | None,
    empty: str | None,
    copies: str | None,
    defect: str | None,
    hole: str | None,
    second_hole: str | None,
    missing: str | None,
) -> tuple[str, ...]:
    """The words of a problem, followed by those that say the same as the options of 1.x; raises UsageError."""
    if differences is not None:
        if words not in ((), (CYCLIC,)):
            raise click.UsageError("give N or --differences, not both")
        words = *(words or (DIFFERENCES,)), differences
    given = {OVER: places, EMPTY: empty, COPIES: copies, DEFECT.name: defect, HOLE.name: hole}
    given |= {SECOND_HOLE.name: second_hole, MISSING.name: missing}
    return *words, *(part for word, value in given.items() if value is not None for part in (word, value))


@dataclass(frozen=True)
class ProblemOptions:
    words: tuple[str, ...]  # of the problem

    def problem(self) -> Problem:
        """Raises BadProblem."""
        return Problem.parse(" ".join(self.words))


@dataclass(frozen=True)
class CampaignOptions(ProblemOptions):
    """The problem, the options that choose how a campaign splits it, and its name."""

    method_name: str | None  # a name of langford.methods.METHODS; None: the fastest that applies
    depth: int | None  # task depth p; None: the command chooses
    plan_seed: int | None  # which of the method's sums; None: the default
    name: str | None
    yes: bool
    anyway: bool  # whether to compute even if it takes over a year, or if no arrangement can exist

    @property
    def is_new(self) -> bool:
        """Whether options of a new campaign are given; ``--name`` alone names one to resume."""
        chosen = (self.method_name, self.depth, self.plan_seed, self.name if self.words else None)
        return any(value is not None for value in chosen)

    def require_one_depth(self, task_time: float | None) -> None:
        """Raises UsageError where the depth is given, and the time of tasks that would choose it too."""
        if task_time is not None and self.depth is not None:
            raise click.UsageError("--task-time chooses the depth: leave --depth out, or --task-time")

    def plan(
        self,
        device: Device,
        task_seconds: float | None = None,
        shared: bool = False,
        at_most: float | None = None,
    ) -> ChosenPlan:
        """The plan that the options name; :func:`langford.methods.chosen_plan` chooses what they leave out.

        Raises BadProblem, and as that function.
        """
        given = (self.method_name, self.depth, self.plan_seed)
        return chosen_plan(self.problem(), device, *given, task_seconds, shared, at_most)


@dataclass(frozen=True)
class ComputeOptions:
    """Where a command computes, and for how long."""

    workers: int | None
    device: str
    time_limit: float | None

    def devices(self) -> list[Device]:
        """Raises NoGpu."""
        return devices(self.device, chosen_cores(self.workers))


answer_options = gathered("asked", Asked, expect_option, verbose_option)
compute_options = gathered("computing", ComputeOptions, workers_option, device_option, time_limit_option)


def problem_words(metavar: str) -> Callable[[Command], Command]:
    """The argument of a problem, as one value, ``words``; ``metavar``: how the usage of the command writes it."""

    def decorate(command: Command) -> Command:
        about = ABOUT if metavar == PROBLEM else ABOUT + OR_NAME
        command.__doc__ = f"{inspect.cleandoc(command.__doc__ or '')}\n{about}"
        return words(command)

    words: Callable[[Command], Command] = gathered(
        "words",
        words_of,
        click.argument(
            "words",
            nargs=-1,
            metavar=metavar,
            shell_complete=lambda context, parameter, begun: [
                name for name in (*families(), *further_words()) if name.startswith(begun)
            ],
        ),
        *(click.option(f"--{name}", *(["-s"] if name == COPIES else []), hidden=True) for name in OF_VERSION_1),
    )
    return decorate


PROBLEM = "PROBLEM..."
_campaign = method_option, depth_option, plan_seed_option, name_option, yes_option, anyway_option
problem_options = gathered("chosen", ProblemOptions, problem_words(PROBLEM))
campaign_options = gathered("chosen", CampaignOptions, problem_words(PROBLEM), *_campaign)
campaign_options_or_name = gathered("chosen", CampaignOptions, problem_words(f"{PROBLEM} | NAME"), *_campaign)
"""The same, and the name of a campaign is accepted instead of a problem."""
