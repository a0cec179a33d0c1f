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
from langford.problem.grammar import families, further_words, term_of
from langford.problem.sequences import Term


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
OR_NAME = "NAME is a campaign in the ledger.\n"
"""More of it where they also take the names of campaigns."""


@dataclass(frozen=True)
class ProblemOptions:
    words: tuple[str, ...]  # of the problem

    def problem(self) -> Problem:
        """Raises BadProblem."""
        return Problem.parse(" ".join(self.words))

    @property
    def term(self) -> Term | None:
        """Of a sequence, where the words name one and an index; raises BadProblem."""
        return term_of(" ".join(self.words))


@dataclass(frozen=True)
class CampaignOptions(ProblemOptions):
    """The problem, the options that choose how a campaign splits it, and its name."""

    method_name: str | None  # a name of langford.methods.METHODS; None: the fastest that applies
    depth: int | None  # task depth p; None: the command chooses
    plan_seed: int | None  # which of the method's sums; None: the default
    name: str | None
    yes: bool

    @property
    def is_new(self) -> bool:
        """Whether options of a new campaign are given."""
        chosen = (self.method_name, self.depth, self.plan_seed, self.name)
        return any(value is not None for value in chosen)

    def require_one_depth(self, task_time: float | None) -> None:
        """Raises UsageError where the depth is given, and the time of tasks that would choose it too."""
        if task_time is not None and self.depth is not None:
            raise click.UsageError("--task-time chooses the depth: leave --depth out, or --task-time")

    def plan(
        self,
        device: Device,
        task_seconds: float | None = None,
        at_most: float | None = None,
    ) -> ChosenPlan:
        """The plan that the options name; :func:`langford.methods.chosen_plan` chooses what they leave out.

        Raises BadProblem, and as that function.
        """
        given = (self.method_name, self.depth, self.plan_seed)
        return chosen_plan(self.problem(), device, *given, task_seconds, at_most)


@dataclass(frozen=True)
class ComputeOptions:
    """Where a command computes, and for how long."""

    workers: int | None
    device: str
    time_limit: float | None

    def devices(self) -> list[Device]:
        """Raises NoGpu."""
        return devices(self.device, chosen_cores(self.workers))


answer_options = gathered(
    "asked", lambda expected, verbose: Asked(expected, verbose), expect_option, verbose_option
)
compute_options = gathered("computing", ComputeOptions, workers_option, device_option, time_limit_option)


def problem_words(metavar: str) -> Callable[[Command], Command]:
    """The argument of a problem, as one value, ``words``; ``metavar``: how the usage of the command writes it."""

    def decorate(command: Command) -> Command:
        about = ABOUT if metavar == PROBLEM else ABOUT + OR_NAME
        command.__doc__ = f"{inspect.cleandoc(command.__doc__ or '')}\n{about}"
        return words(command)

    words = click.argument(
        "words",
        nargs=-1,
        metavar=metavar,
        shell_complete=lambda context, parameter, begun: [
            name for name in (*families(), *further_words()) if name.startswith(begun)
        ],
    )
    return decorate


PROBLEM = "PROBLEM..."
_campaign = method_option, depth_option, plan_seed_option, name_option, yes_option
problem_options = gathered("chosen", ProblemOptions, problem_words(PROBLEM))
campaign_options = gathered("chosen", CampaignOptions, problem_words(PROBLEM), *_campaign)
campaign_options_or_name = gathered("chosen", CampaignOptions, problem_words(f"{PROBLEM} | NAME"), *_campaign)
"""The same, and the name of a campaign is accepted instead of a problem."""
