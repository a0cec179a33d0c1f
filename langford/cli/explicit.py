"""``langford list`` and ``langford draw``."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import click

from langford.cli.options import chosen_problem, integers, json_option, problem_options
from langford.errors import BadProblem


@click.command(
    "list",
    epilog="""\b
Examples:
  langford list 7
  langford list 12 --limit 3
  langford list 16 --sample 5 --seed 1""",
)
@problem_options
@click.option("--count", "only_count", is_flag=True, help="Print how many, found one by one.")
@click.option("--limit", type=click.IntRange(min=0), help="Stop after so many.")
@click.option("--sample", type=click.IntRange(min=1), help="Draw so many at random instead.")
@click.option("--seed", type=int, help="Make the sample reproducible.")
@json_option
def list_(
    only_count: bool, limit: int | None, sample: int | None, seed: int | None, as_json: bool, **chosen: Any
) -> None:
    """List explicit arrangements, mirror images once."""
    problem = chosen_problem(**chosen)
    from langford import explicit
    from langford.cli import display

    if sample is not None:
        found = explicit.sample(problem, sample, seed)
        if not explicit.is_uniform(problem):
            display.say(f"above n = {explicit.UNIFORM_COLOURS} the sample is random, but not uniform")
    else:
        found = islice(explicit.iterate(problem), limit)
    if only_count:
        print(sum(1 for _ in found))
    elif as_json:
        display.print_json([list(arrangement) for arrangement in found])
    else:
        for arrangement in found:
            print(" ".join(str(label) if label else "." for label in arrangement))


@click.command(
    epilog="""\b
Examples:
  langford draw 7
  langford draw 28 --seed 1 --out l28.svg
  langford draw --cubes 3,1,2,1,3,2"""
)
@problem_options
@click.option("--cubes", callback=integers, help="Draw this arrangement instead of a random one.")
@click.option("--seed", type=int, help="Make the choice reproducible.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write .svg, .png or .pdf.")
def draw(cubes: list[int] | None, seed: int | None, out: Path | None, **chosen: Any) -> None:
    """Draw an arrangement as coloured cubes and arcs."""
    from langford import drawing, explicit

    if cubes is None:
        arrangement = next(explicit.sample(chosen_problem(**chosen), 1, seed))
    else:
        arrangement = tuple(cubes)
        if not arrangement or min(arrangement) < 0:
            raise BadProblem("--cubes takes one label per place, 0 for an empty one")
        if chosen["n"] is not None and not explicit.is_valid(chosen_problem(**chosen), arrangement):
            raise BadProblem(f"{','.join(map(str, cubes))} is no arrangement of {chosen_problem(**chosen).name}")
    if out is not None:
        drawing.save(arrangement, out)
        return
    from rich.console import Console

    console = Console()
    console.print(drawing.text(arrangement), no_wrap=True, overflow="ignore", crop=False, soft_wrap=True)
