"""``langford draw``."""

from __future__ import annotations

from pathlib import Path

import click

from langford import drawing
from langford.cli.options.common import json_option, seed_option
from langford.cli.options.groups import ProblemOptions, problem_options
from langford.cli.options.types import integers
from langford.cli.output import display
from langford.cli.output.display import has_characters, show
from langford.cli.output.screen import styled
from langford.errors import BadProblem
from langford.methods.backtracking import explicit


@click.command(
    epilog="""\b
Examples:
  langford draw 7
  langford draw skolem 28 --sample-seed 1 --out s28.svg
  langford draw starter 9 --out starter.svg
  langford draw --cubes 3,1,2,1,3,2"""
)
@problem_options
@click.option(
    "--cubes",
    type=integers,
    metavar="K,K,...",
    help="Draw this arrangement; 0 is an empty place.",
)
@seed_option
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write .svg, .png or .pdf.")
@json_option
def draw(
    chosen: ProblemOptions, cubes: list[int] | None, seed: int | None, out: Path | None, as_json: bool
) -> None:
    """Draw an arrangement as coloured cubes and arcs.

    A file shows a circle as a circle, with chords; on a terminal the circle is cut open before place 1.
    """
    if cubes is not None and seed is not None:
        raise click.UsageError("--cubes is not random: leave --sample-seed out")
    if out is not None:
        drawing.require_drawable(out)
    problem = chosen.problem() if cubes is None or chosen.words else None
    if cubes is not None:
        arrangement = tuple(cubes)
        if min(arrangement) < 0:
            raise BadProblem("give --cubes one label per place, 0 for an empty one")
        if problem is not None and not explicit.is_valid(problem, arrangement):
            raise BadProblem(
                f"{','.join(map(str, cubes))} is not an arrangement of {problem.name}: correct it, or "
                "name no problem to draw it without this check"
            )
    else:
        assert problem is not None
        with display.said_when_slow("no arrangement yet; still searching, Ctrl-C stops"):
            arrangement = next(explicit.sample(problem, 1, seed))
    if out is not None:
        drawing.save(arrangement, out, problem is not None and problem.circle)
    if as_json:
        display.print_json({"arrangement": list(arrangement), "file": None if out is None else str(out)})
    elif out is not None:
        show(f"{out}: {','.join(map(str, arrangement))}")
    if as_json or out is not None:
        return
    console = styled()
    width = console.width if console.is_terminal else None
    lines = drawing.LINES if has_characters(drawing.LINES) else drawing.ASCII_LINES
    console.print(
        drawing.text(arrangement, width, lines), no_wrap=True, overflow="ignore", crop=False, soft_wrap=True
    )
