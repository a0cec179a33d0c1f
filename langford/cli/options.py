"""Options that several commands share, and how they become a Problem."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from langford.errors import BadProblem, LangfordError
from langford.problem import Problem
from langford.variants import VARIANTS

METHOD_NAMES = ("polyphase", "godfrey", "miller", "regular")
LEDGER = "langford.db"


class NoToken(LangfordError):
    """A task server wants a token, and there is none."""


def integers(context: click.Context, option: click.Parameter, value: str | None) -> list[int] | None:
    """A comma-separated list of integers."""
    if value is None:
        return None
    try:
        return [int(part) for part in value.split(",") if part.strip()]
    except ValueError as error:
        raise click.BadParameter("give integers separated by commas, like 1,2,5") from error


def problem_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """N and the options that choose another problem than L(2, N)."""
    for decorate in (
        click.option("--empty", callback=integers, help="With --differences: places that stay empty."),
        click.option("--places", type=int, help="With --differences: length of the row."),
        click.option(
            "--differences", callback=integers, metavar="D,D,…", help="Count this set of differences instead."
        ),
        click.option(
            "--copies", "-s", type=int, default=2, show_default=True, help="Cubes of each colour (s in L(s, n))."
        ),
        click.option("--variant", type=click.Choice(list(VARIANTS)), default="langford", show_default=True),
        click.argument("n", type=int, required=False),
    ):
        command = decorate(command)
    return command


def chosen_problem(
    n: int | None,
    variant: str,
    copies: int,
    differences: list[int] | None,
    places: int | None,
    empty: list[int] | None,
) -> Problem:
    """The problem that the options of :func:`problem_options` describe; raises BadProblem."""
    if differences is not None:
        if n is not None:
            raise BadProblem("give N or --differences, not both")
        return Problem.from_differences(differences, places, empty or (), copies)
    if n is None:
        raise BadProblem("say how many colours: langford count 12 (or --differences 1,2,5)")
    if places is not None or empty is not None:
        raise BadProblem("--places and --empty go with --differences")
    return Problem.named(variant, n, copies)


def chosen_method(name: str | None, problem: Problem) -> Any:
    """The method of that name, or the fastest that applies; raises MethodDoesNotApply."""
    from langford.methods import default_method, find_method

    return find_method(name, problem) if name else default_method(problem)


def plan_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """VARIANT, N and how a campaign of it is split and called; see :func:`chosen_key`."""
    for decorate in (
        click.option("--name", help="The campaign's name; default: problem, method and depth."),
        click.option("--depth", "-p", type=int, help="Task depth; default: tasks of seconds to minutes."),
        click.option("--method", type=click.Choice(METHOD_NAMES), help="Default: the fastest that applies."),
        click.option("--copies", "-s", type=int, default=2, show_default=True, help="Cubes of each colour."),
        click.argument("n", type=int),
        click.argument("variant", type=click.Choice(list(VARIANTS))),
    ):
        command = decorate(command)
    return command


def chosen_token(file: Path | None) -> str:
    """The token for a task server: the file's content, or LANGFORD_TOKEN; raises NoToken."""
    token = file.read_text().strip() if file else os.environ.get("LANGFORD_TOKEN", "")
    if not token:
        raise NoToken("give a token of the campaign: --token-file FILE, or LANGFORD_TOKEN (see `langford token`)")
    return token


def chosen_key(variant: str, n: int, copies: int, method: str | None, depth: int | None) -> Any:
    """The plan that the options of a campaign name; raises BadProblem, MethodDoesNotApply or BadDepth."""
    from jobs.evaluation import plan_of
    from langford.methods import PlanKey

    problem = Problem.named(variant, n, copies)
    way = chosen_method(method, problem)
    key = PlanKey(problem, way.name, way.suggested_depth(problem) if depth is None else depth)
    plan_of(key)
    return key


ledger_option = click.option(
    "--ledger",
    "-l",
    default=LEDGER,
    show_default=True,
    envvar="LANGFORD_LEDGER",
    help="File or database URL.",
)
device_option = click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="Where to compute; cuda takes every GPU.",
)
token_option = click.option(
    "--token-file",
    type=click.Path(exists=True, path_type=Path),
    help="Holds the server's token; default: LANGFORD_TOKEN.",
)
trust_option = click.option(
    "--certificate",
    type=click.Path(exists=True, path_type=Path),
    help="A server's certificate to trust besides the system's.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
