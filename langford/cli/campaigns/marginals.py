"""``langford marginals``: where a colour begins, each place by a campaign of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from jobs.tables.entries import Row
from jobs.tables.marginals import Marginals
from langford import drawing
from langford.cli.campaigns.table import CountingOptions, counted, counting_options
from langford.cli.options.common import format_option
from langford.cli.options.groups import ProblemOptions, problem_options
from langford.cli.output import display, formats
from langford.cli.output.tables import Sheet
from langford.machine.durable import replace_file

FORMATS = ("table", "expanded", "csv", "json")
COLUMNS = ("place", "count", "share", "method", "confirmed by", "seconds")


@click.command(
    epilog="""\b
Examples:
  langford marginals 8 --colour 8
  langford marginals skolem 12 --colour 1 --confirm --format csv
  langford marginals 12 --colour 12 --out l12.svg

The same command resumes, even after being killed."""
)
@problem_options
@click.option("--colour", type=int, required=True, metavar="K", help="The colour, by its label.")
@click.option("--confirm", is_flag=True, help="Count each place twice, by two sums.")
@format_option(FORMATS, "Default: table.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also draw bars to this .svg file.",
)
@counting_options
def marginals(
    chosen: ProblemOptions,
    colour: int,
    confirm: bool,
    form: str | None,
    out: Path | None,
    counting: CountingOptions,
) -> None:
    """Count in how many arrangements a colour begins at each place.

    Mirror images count separately.  A colour that is fixed leaves a row with empty places, which a campaign counts;
    places that are mirror images have one campaign.  All arrangements are counted too, and must be the sum.
    """
    problem = chosen.problem()
    asked, wanted_form = Marginals.of(problem, colour), formats.chosen_format(form, counting.as_json) or "table"
    if out is not None:
        drawing.require_drawable(out)
    named = f"colour {colour} of {problem}"
    rows = counted(asked.entries, named, confirm, counting)
    if rows is None:
        return
    total = asked.require_sum(rows)
    formats.print_parts(formats.FORMATS[wanted_form](Sheet(COLUMNS, _cells(rows, total))))
    if out is not None:
        numbers = {row.entry.n: row.arrangements for row in rows[:-1]}
        replace_file(out, drawing.bars(named, colour, numbers).encode(), drawing.PICTURE)
    display.say(f"the sum is {total:,}, as counted for {problem} by {' and '.join(rows[-1].methods) or 'a proof'}")


def _cells(rows: Sequence[Row], total: int) -> Iterator[tuple[object, ...]]:
    for row in rows[:-1]:
        share = f"{row.arrangements / total:.2%}" if total else ""
        methods, confirmed = ", ".join(row.methods), ", ".join(row.confirmed_by)
        yield row.entry.n, str(row.arrangements), share, methods, confirmed, round(row.seconds, 3)
