"""``langford list``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import click

from langford.cli.options.common import json_option, sample_seed_option
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
@click.option("--count", "only_count", is_flag=True, hidden=True)
@click.option("--limit", type=click.IntRange(0, 2**62), metavar="K", help="Stop after K arrangements.")
@click.option("--sample", type=click.IntRange(min=1), hidden=True)
@sample_seed_option(type=int, hidden=True)
@json_option
def list_(
    chosen: ProblemOptions, only_count: bool, limit: int | None, sample: int | None, seed: int | None, as_json: bool
) -> None:
    """List explicit arrangements, mirror images once."""
    problem = chosen.problem()
    if sample is not None and limit is not None:
        raise click.UsageError("--sample draws K arrangements: leave --limit out")
    if sample is not None and only_count:
        raise click.UsageError("--sample draws K arrangements, whatever their number: leave --count out")
    if sample is None and seed is not None:
        raise click.UsageError("--sample-seed belongs to --sample")
    if problem.obstruction and sample is None:
        display.say(f"{problem} has no arrangement, {problem.obstruction}")
    advice = "" if sample is not None else "; `langford draw` draws one at random, usually sooner"
    if sample is not None:
        listed = explicit.sample(problem, sample, seed)
        if not explicit.is_uniform(problem) and problem.places <= explicit.MAX_PLACES:
            display.say(f"above n = {explicit.UNIFORM_COLOURS} the sample is random, but not uniform")
    else:
        listed = islice(explicit.iterate(problem), limit)
    with display.said_when_slow(f"no arrangement yet; still searching{advice}") as found:
        listed = _noting(listed, found)
        if only_count:
            number = sum(1 for _ in listed)
            display.outcome(str(number), {"problem": problem.name, "count": str(number)}, as_json)
        elif as_json:
            display.print_json([list(arrangement) for arrangement in listed])
        else:
            for arrangement in listed:
                print(" ".join(str(label) if label else "." for label in arrangement))


def _noting(listed: Iterator[explicit.Arrangement], found: Callable[[], None]) -> Iterator[explicit.Arrangement]:
    """Calls ``found`` with the first."""
    for arrangement in listed:
        found()
        yield arrangement
