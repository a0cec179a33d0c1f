"""Groups of options that belong together; a command gets each group as one argument, a dataclass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import TypeVar

import click

from langford.cli.options.common import (
    Command,
    copies_option,
    depth_option,
    method_option,
    name_option,
    plan_seed_option,
    variant_argument,
    variant_option,
    variant_or_name_argument,
)
from langford.cli.options.types import integers
from langford.devices import Device
from langford.errors import BadProblem
from langford.methods import ChosenPlan, PlanKey, chosen_plan
from langford.problem import Problem
from langford.variants import PARAMETERS, VARIANTS

V = TypeVar("V")


def gathered(
    argument: str, group: Callable[..., object], *options: Callable[[Command], Command]
) -> Callable[[Command], Command]:
    """A decorator that adds options to a command and collects their values in one argument.

    Args:
        argument: name of the command's argument.
        group: makes its value; its parameters have the names of the options.
        options: decorators of click.
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


@dataclass(frozen=True)
class ProblemOptions:
    """N and the options that choose another problem than L(2, N).

    Attributes:
        n: number of colours; None with ``differences``.
        variant: a name of langford.variants.VARIANTS.
        copies: number of cubes of each colour.
        parameters: of the variant, by their names in Python, as far as they were given.
        differences: the differences of a problem without a name.
        places: with ``differences``: length of the row.
        empty: with ``differences``: places that stay empty.
    """

    n: int | None
    variant: str
    copies: int
    parameters: Mapping[str, int]
    differences: list[int] | None
    places: int | None
    empty: list[int] | None

    def problem(self) -> Problem:
        """The problem that the options describe; raises BadProblem."""
        if self.n is None and self.differences is None:
            raise BadProblem("say how many colours: langford count 12 (or --differences 1,2,5)")
        return _problem_of(self, self.n is not None, "N")


differences_options = (
    click.option("--differences", type=integers, metavar="D,D,...", help="Count this set of differences instead."),
    click.option("--places", type=int, help="With --differences: length of the row."),
    click.option("--empty", type=integers, metavar="P,P,...", help="With --differences: places that stay empty."),
)
problem_options = gathered(
    "chosen",
    ProblemOptions,
    click.argument("n", type=int, required=False),
    variant_option,
    copies_option,
    parameter_options,
    *differences_options,
)


@dataclass(frozen=True)
class CampaignOptions:
    """VARIANT, N and the options that choose how a campaign splits the problem, and its name.

    Attributes:
        variant: a name of langford.variants.VARIANTS; None with ``differences``.
        n: number of colours; None with ``differences``.
        copies: number of cubes of each colour.
        parameters: of the variant, by their names in Python, as far as they were given.
        differences: the differences of a problem without a name.
        places: with ``differences``: length of the row.
        empty: with ``differences``: places that stay empty.
        method_name: a name of langford.methods.METHODS; None: the fastest that applies.
        depth: task depth p; None: the command chooses.
        plan_seed: which of the method's sums; None: the default.
        name: of the campaign; None: the name of its plan.
        yes: whether to create a campaign of millions of tasks without a question.
        anyway: whether to compute even if no arrangement can exist.
    """

    variant: str | None
    n: int | None
    copies: int
    parameters: Mapping[str, int]
    differences: list[int] | None
    places: int | None
    empty: list[int] | None
    method_name: str | None
    depth: int | None
    plan_seed: int | None
    name: str | None
    yes: bool
    anyway: bool

    def problem(self) -> Problem:
        """The problem that the campaign counts; raises BadProblem, and as :meth:`require`."""
        self.require()
        return _problem_of(self, self.variant is not None, "VARIANT and N,")

    def require(self) -> None:
        """Raises UsageError where neither VARIANT and N nor differences are given."""
        if self.differences is not None:
            return
        if self.variant is None:
            raise click.UsageError("Missing argument 'VARIANT' (or --differences 1,2,5).")
        if self.variant not in VARIANTS:
            names = ", ".join(map(repr, VARIANTS))
            raise click.UsageError(f"Invalid value for 'VARIANT': {self.variant!r:.80} is not one of {names}.")
        if self.n is None:
            raise click.UsageError("Missing argument 'N'.")

    @property
    def resumed(self) -> str | None:
        """The name of the campaign that is resumed by its name; None: VARIANT and N, or differences, are given.

        Raises UsageError when options of a new campaign are given beside it.
        """
        if self.variant is None or self.variant in VARIANTS or self.n is not None or self.differences is not None:
            return None
        chosen = (self.places, self.empty, self.method_name, self.depth, self.plan_seed, self.name)
        if any(value is not None for value in chosen) or self.copies != 2 or self.parameters:
            raise click.UsageError(
                f"{self.variant:.80} is resumed as it was created: leave the options of a new one out"
                f"{meant_number(self.variant)}"
            )
        return self.variant

    def plan(self, device: Device, task_seconds: float | None = None, shared: bool = False) -> ChosenPlan:
        """The plan that the options name; :func:`langford.methods.chosen_plan` chooses what they leave out.

        Raises BadProblem, and as that function.
        """
        given = (self.method_name, self.depth, self.plan_seed)
        return chosen_plan(self.problem(), device, *given, task_seconds, shared)

    def settled(self, device: Device) -> ChosenPlan | None:
        """The plan, where the answer is known to be 0 without a computation, and none was asked for; else None.

        Raises as :meth:`plan`.
        """
        return self.plan(device) if self.problem().obstruction and not self.anyway else None

    def matches(self, key: PlanKey) -> bool:
        """Whether a plan is of the problem, and of the method and depth as far as they were given.

        The seed is the default unless it was given, or follows from the name of the campaign.
        """
        seed = 0 if self.plan_seed is None and self.name is None else self.plan_seed
        given = (self.method_name, key.method), (self.depth, key.depth), (seed, key.seed)
        return key.problem == self.problem() and all(value in (None, other) for value, other in given)


def meant_number(name: str) -> str:
    """What to add to a message about a campaign whose name is a number: N was meant; empty for other names."""
    return f"; to count L(2,{name:.80}): `langford run langford {name:.80}`" if name.isdecimal() else ""


def _problem_of(chosen: ProblemOptions | CampaignOptions, is_named: bool, name: str) -> Problem:
    """The problem that options describe; raises BadProblem.

    Args:
        chosen: the options; without --differences they have a variant and N.
        is_named: whether what excludes --differences is given.
        name: of that, in messages.
    """
    if chosen.differences is None:
        assert chosen.variant is not None
        assert chosen.n is not None
        if chosen.places is not None or chosen.empty is not None:
            raise BadProblem("--places and --empty need --differences: give it too, or leave them out")
        return Problem.named(chosen.variant, chosen.n, chosen.copies, **chosen.parameters)
    if is_named:
        raise BadProblem(f"give {name} or --differences, not both")
    for keyword in chosen.parameters:
        raise BadProblem(f"--{keyword.replace('_', '-')} goes with a variant: leave it out, or --differences")
    return Problem.from_differences(chosen.differences, chosen.places, chosen.empty or (), chosen.copies)


def _campaign_options(first: Callable[[Command], Command]) -> Callable[[Command], Command]:
    return gathered(
        "chosen",
        CampaignOptions,
        first,
        click.argument("n", type=int, required=False),
        copies_option,
        parameter_options,
        *differences_options,
        method_option,
        depth_option,
        plan_seed_option,
        name_option,
        click.option("--yes", is_flag=True, help="Create a campaign of millions of tasks without a question."),
        click.option("--anyway", is_flag=True, help="Start even if no arrangement can exist."),
    )


campaign_options = _campaign_options(variant_argument)
campaign_options_or_name = _campaign_options(variant_or_name_argument)
"""The same, and the name of a campaign is accepted instead of VARIANT and N."""
