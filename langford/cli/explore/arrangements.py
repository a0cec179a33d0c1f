"""``langford list``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import click

from langford.cli.options.common import json_option
from langford.cli.options.groups import ProblemOptions, problem_options
from langford.cli.output import display
from langford.methods.backtracking import explicit


@click.command(
    "list",
    epilog="""\b
Examples:
  langford list 7
  langford list 12 --limit 3
  langford list rosa 7

`langford count` counts them; `langford draw` draws one at random.""",
)
@problem_options
@click.option("--limit", type=click.IntRange(0, 2**62), metavar="K", help="Stop after K arrangements.")
@json_option
def list_(chosen: ProblemOptions, limit: int | None, as_json: bool) -> None:
    """List explicit arrangements, mirror images once."""
    problem = chosen.problem()
    if problem.obstruction:
        display.say(f"{problem} has no arrangement, {problem.obstruction}")
    advice = "; `langford draw` draws one at random, usually sooner"
    with display.said_when_slow(f"no arrangement yet; still searching{advice}") as found:
        listed = _noting(islice(explicit.iterate(problem), limit), found)
        if as_json:
            display.print_json([list(arrangement) for arrangement in listed])
        else:
            for arrangement in listed:
                print(" ".join(str(label) if label else "." for label in arrangement))


def _noting(listed: Iterator[explicit.Arrangement], found: Callable[[], None]) -> Iterator[explicit.Arrangement]:
    """Calls ``found`` with the first."""
    for arrangement in listed:
        found()
        yield arrangement
