"""``langford draw``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from langford import drawing
from langford.cli.exit_codes import ExitCode
from langford.cli.options.common import json_option, seed_option
from langford.cli.options.groups import ProblemOptions, problem_options
from langford.cli.options.types import labels
from langford.cli.output import display
from langford.cli.output.display import has_characters, show
from langford.cli.output.screen import styled
from langford.errors import BadProblem
from langford.methods.backtracking import explicit
from langford.problem import Problem
from langford.problem.recognition import is_planar, labelled, recognised


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
    type=labels,
    metavar="K,K,...",
    help="Check and draw this arrangement, with commas or spaces; print its problem, and whether it is planar.  "
    "0 or a dot is an empty place.",
)
@seed_option
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write this .svg file.")
@json_option
@click.pass_context
def draw(
    context: click.Context,
    chosen: ProblemOptions,
    cubes: list[int] | None,
    seed: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Draw an arrangement as coloured cubes and arcs, or check one.

    A file shows a circle as a circle, with chords; on a terminal the circle is cut open before place 1.
    """
    if cubes is not None and seed is not None:
        raise click.UsageError("--cubes is not random: leave --sample-seed out")
    if out is not None:
        drawing.require_drawable(out)
    checked: CheckedArrangement | None = None
    problem = chosen.problem() if cubes is None or chosen.words else None
    if cubes is not None:
        arrangement = tuple(cubes)
        if problem is not None:
            try:
                arrangement = labelled(problem, arrangement)
            except BadProblem as error:
                given = ",".join(map(str, cubes))
                raise BadProblem(f"{given} is not an arrangement of {problem}: {error}") from error
            checked = CheckedArrangement(arrangement, problem)
        else:
            checked = CheckedArrangement.of(arrangement)
            problem = checked.problem
    else:
        assert problem is not None
        with display.said_when_slow("no arrangement yet; still searching, Ctrl-C stops"):
            arrangement = explicit.find(problem, seed)
    if out is not None:
        drawing.save(arrangement, out, problem is not None and problem.circle)
    if as_json:
        file = None if out is None else str(out)
        more = {} if checked is None else checked.document()
        display.print_json({"arrangement": list(arrangement), "file": file, **more})
    elif out is not None:
        show(f"{out}: {','.join(map(str, arrangement))}")
    if not as_json and out is None:
        _draw(arrangement)
    if checked is not None:
        context.exit(checked.print(as_json))


@dataclass(frozen=True)
class CheckedArrangement:
    """What an arrangement is; ``problem``: None: none, for the reason in ``fault``."""

    arrangement: explicit.Arrangement
    problem: Problem | None
    fault: str = ""

    @classmethod
    def of(cls, arrangement: explicit.Arrangement) -> CheckedArrangement:
        try:
            return cls(arrangement, recognised(arrangement))
        except BadProblem as error:
            return cls(arrangement, None, str(error))

    def document(self) -> dict[str, object]:
        return {
            "problem": None if self.problem is None else self.problem.name,
            "fault": self.fault or None,
            "planar": None if self.problem is None else is_planar(self.arrangement),
            "mirror": list(self.arrangement[::-1]),
        }

    def print(self, as_json: bool) -> ExitCode:
        if self.problem is None:
            display.say(f"langford: {self.fault}")
            return ExitCode.CHECK_FAILED
        if not as_json:
            planar = "planar" if is_planar(self.arrangement) else "not planar: lines above and below the row cross"
            own = " (itself)" if self.arrangement == self.arrangement[::-1] else ""
            mirror = ",".join(map(str, self.arrangement[::-1]))
            what = f"an arrangement of {self.problem}, {self.problem.name}"
            show(f"{what}\n  {planar}\n  mirror image {mirror}{own}")
        return ExitCode.DONE


def _draw(arrangement: explicit.Arrangement) -> None:
    console = styled()
    width = console.width if console.is_terminal else None
    lines = drawing.LINES if has_characters(drawing.LINES) else drawing.ASCII_LINES
    console.print(
        drawing.text(arrangement, width, lines), no_wrap=True, overflow="ignore", crop=False, soft_wrap=True
    )
