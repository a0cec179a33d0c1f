"""Groups of options that belong together; a command gets each group as one argument, a dataclass."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import TypeVar

import click

from langford.cli.options.common import (
    VARIANT_NAMES,
    Command,
    anyway_option,
    chosen_cores,
    copies_option,
    depth_option,
    device_option,
    method_option,
    name_option,
    plan_seed_option,
    time_limit_option,
    workers_option,
    yes_option,
)
from langford.cli.options.types import integers
from langford.devices import Device, devices
from langford.errors import BadProblem
from langford.methods import ChosenPlan, chosen_plan
from langford.problem import Problem
from langford.problem.variants import CYCLIC, PARAMETERS, VARIANTS

V = TypeVar("V")
NUMBER = re.compile(r"-?\d{1,20}", re.ASCII)


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


def given_parameters(defect: V | None, hole: V | None, second_hole: V | None, missing: V | None) -> dict[str, V]:
    """The values of a variant's parameters that were given, by their names in Python."""
    values = {"defect": defect, "hole": hole, "second_hole": second_hole, "missing": missing}
    return {name: value for name, value in values.items() if value is not None}


parameter_options = gathered(
    "parameters",
    given_parameters,
    *(click.option(f"--{each.name}", type=int, help=each.meaning) for each in PARAMETERS.values()),
)


def named(words: Sequence[str], variant: str | None = None) -> tuple[str, int]:
    """The variant and n that the arguments [VARIANT] N name; raises UsageError.

    ``variant``: what --variant named, as in earlier versions; None: it was not given.
    """
    context = click.get_current_context()
    given = [*filter(None, [variant]), *words]
    if len(given) > 2:
        raise click.UsageError(f"Got unexpected extra argument ({given[2]:.80})", context)
    if not given or given[-1] in VARIANTS:
        command = context.command_path
        raise click.UsageError(f"Missing argument 'N': name a problem, like `{command} 12` or `{command} skolem 9`")
    chosen, n = given if len(given) == 2 else ("langford", *given)
    variants = f"is not one of {', '.join(VARIANTS)}"
    if chosen not in VARIANTS:
        raise click.UsageError(f"Invalid value for 'VARIANT': {chosen!r:.80} {variants}", context)
    if not NUMBER.fullmatch(n):
        alone = "" if len(given) == 2 else f", and {variants}"
        raise click.UsageError(f"Invalid value for 'N': {n!r:.80} is not a valid integer{alone}", context)
    return chosen, int(n)


@dataclass(frozen=True)
class ProblemOptions:
    """[VARIANT] N and the options that choose another problem than L(2, N)."""

    words: tuple[str, ...]  # [VARIANT] N as given
    variant: str | None  # VARIANT in the form of earlier versions; None: not given
    copies: int
    parameters: Mapping[str, int]  # of the variant, by their names in Python, as far as they were given
    differences: list[int] | None  # the differences of a problem without a name
    places: int | None
    empty: list[int] | None  # with ``differences``: places that stay empty

    def problem(self) -> Problem:
        cyclic = self.words[:1] == (CYCLIC,) and self.variant is None
        if cyclic and (self.differences is None or len(self.words) > 1):
            raise BadProblem(
                "cyclic has no N: give it --differences D,D,..., and --empty P,P,... where it has holes"
            )
        if self.differences is None:
            if self.places is not None or self.empty is not None:
                raise BadProblem("--places and --empty need --differences: give it too, or leave them out")
            variant, n = named(self.words, self.variant)
            return Problem.named(variant, n, self.copies, **self.parameters)
        if (self.words or self.variant) and not cyclic:
            raise BadProblem("give N or --differences, not both")
        for keyword in self.parameters:
            raise BadProblem(f"--{keyword.replace('_', '-')} goes with a variant: leave it out, or --differences")
        return Problem.from_differences(self.differences, self.places, self.empty or (), self.copies, cyclic)


@dataclass(frozen=True)
class CampaignOptions(ProblemOptions):
    """[VARIANT] N and the options that choose how a campaign splits the problem, and its name."""

    method_name: str | None  # a name of langford.methods.METHODS; None: the fastest that applies
    depth: int | None  # task depth p; None: the command chooses
    plan_seed: int | None  # which of the method's sums; None: the default
    name: str | None
    yes: bool
    anyway: bool  # whether to compute even if it takes over a year, or if no arrangement can exist

    @property
    def resumed(self) -> str | None:
        """The name of the campaign that is resumed by its name; None: a problem is named.

        Raises UsageError when options of a new campaign are given beside it.
        """
        words = self.words or tuple(filter(None, [self.name]))
        if self.variant or self.differences or len(words) != 1:
            return None
        [word] = words
        if self.words and (NUMBER.fullmatch(word) or word in (*VARIANTS, CYCLIC)):
            return None
        chosen = (self.places, self.empty, self.method_name, self.depth, self.plan_seed, self.words and self.name)
        if any(value not in (None, ()) for value in chosen) or self.copies != 2 or self.parameters:
            raise click.UsageError(f"{word:.80} is resumed as it was created: leave the options of a new one out")
        return word

    def plan(self, device: Device, task_seconds: float | None = None, shared: bool = False) -> ChosenPlan:
        """The plan that the options name; :func:`langford.methods.chosen_plan` chooses what they leave out.

        Raises BadProblem, and as that function.
        """
        given = (self.method_name, self.depth, self.plan_seed)
        return chosen_plan(self.problem(), device, *given, task_seconds, shared)


@dataclass(frozen=True)
class ComputeOptions:
    """Where a command computes, and for how long."""

    workers: int | None
    device: str
    time_limit: float | None

    def devices(self) -> list[Device]:
        """Raises NoGpu."""
        return devices(self.device, chosen_cores(self.workers))


compute_options = gathered("computing", ComputeOptions, workers_option, device_option, time_limit_option)


def problem_argument(metavar: str = "[VARIANT] N") -> Callable[[Command], Command]:
    """The argument of a problem, for :func:`named`; ``metavar``: how the usage of the command writes it."""
    return click.argument(
        "words",
        nargs=-1,
        metavar=metavar,
        shell_complete=lambda context, parameter, begun: [
            name for name in (*VARIANTS, CYCLIC) if name.startswith(begun)
        ],
    )


_problem = (
    click.option("--variant", type=VARIANT_NAMES, hidden=True),
    copies_option,
    parameter_options,
    click.option(
        "--differences",
        type=integers,
        metavar="D,D,...",
        help="Count this set of differences instead; after the word cyclic, on a circle.",
    ),
    click.option("--places", type=int, help="With --differences: length of the row."),
    click.option("--empty", type=integers, metavar="P,P,...", help="With --differences: places that stay empty."),
)
_campaign = *_problem, method_option, depth_option, plan_seed_option, name_option, yes_option, anyway_option
problem_options = gathered("chosen", ProblemOptions, problem_argument(), *_problem)
campaign_options = gathered("chosen", CampaignOptions, problem_argument(), *_campaign)
campaign_options_or_name = gathered("chosen", CampaignOptions, problem_argument("[VARIANT] N | NAME"), *_campaign)
"""The same, and the name of a campaign is accepted instead of a problem."""
