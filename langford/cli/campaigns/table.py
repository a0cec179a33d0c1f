"""``langford table``: the counts of a family, each by a campaign of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from db import Ledger
from jobs.tables.counting import Interrupted, TableCounting
from jobs.tables.entries import Entry, Family, Row, Table, entries
from jobs.tables.forecast import TableForecast
from langford.cli.campaigns.running import existing, outbox_of, place_of
from langford.cli.exit_codes import ExitCode, StopSignals, code_of_signal
from langford.cli.options.common import (
    format_option,
    json_option,
    ledger_option,
    yes_option,
)
from langford.cli.options.groups import (
    PROBLEM,
    ComputeOptions,
    compute_options,
    gathered,
    problem_words,
)
from langford.cli.output import display, formats
from langford.cli.output.how_long import Cost, DryRun, dry_run_option
from langford.cli.output.progress import ProgressLine, Terminal
from langford.cli.output.tables import Sheet
from langford.machine.outputs import OutputForm, require_replaceable
from langford.words import several

BFILE = "bfile"
FORMATS = ("table", "expanded", "csv", "json", BFILE)
BY_SUFFIX = {".csv": "csv", ".json": "json", ".txt": BFILE}


@dataclass(frozen=True)
class CountingOptions:
    """How the entries of a table are counted, or that they are not."""

    yes: bool
    address: str
    computing: ComputeOptions
    dry_run: bool
    as_json: bool


counting_options = gathered(
    "counting", CountingOptions, yes_option, ledger_option, compute_options, dry_run_option, json_option
)


def family_of(words: tuple[str, ...], first: int | None, summed: bool) -> Family:
    """Raises BadProblem."""
    return Family.parse(" ".join(words), first, summed)


@click.command(
    epilog="""\b
Examples:
  langford table hooked-skolem 16
  langford table 14 defect 2..5 --confirm
  langford table near-skolem 10 --format csv
  langford table extended-skolem 12 --sum -o b-file.txt
  langford table A059106 20
  langford table rosa 24 --dry-run
  langford table rosa 24 --device cuda --ledger tables.db --yes

The same command resumes the table, even after being killed.  Exit codes: 0 done, 2 bad input, 3 incomplete, 4 a
count is wrong, 128 + N stopped by signal N."""
)
@gathered(
    "family",
    family_of,
    problem_words(PROBLEM),
    click.option("--from", "first", type=click.IntRange(min=0), metavar="N", help="The smallest n; default: all."),
    click.option(
        "--sum",
        "summed",
        is_flag=True,
        help="One entry for each n: all arrangements, including mirror images, summed over the parameters' values.",
    ),
)
@click.option("--confirm", is_flag=True, help="Count each entry twice, by two sums.")
@format_option(FORMATS, "Default: that of FILE, else table.")
@click.option(
    "--out",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write to this file: .csv, .json, or .txt for a b-file.",
)
@counting_options
def table(
    family: Family,
    confirm: bool,
    form: str | None,
    out: Path | None,
    counting: CountingOptions,
) -> None:
    """Count a family up to n = N, as a table, CSV, JSON or b-file of the OEIS; each entry is a campaign.

    Entries that are 0 by parity take no time; the others are counted smallest first.  Each count is compared with
    the published one, or marked "none known".  Mirror images count once if every row of the table
    has a mirror; otherwise all arrangements count.
    """
    chosen, wanted = _format(form, out, counting.as_json), entries(family)
    if out is not None:
        require_replaceable(out, _form(Table(family, ()), chosen))
    rows = counted(wanted, f"table of {family.variant}", confirm, counting)
    if rows is None:
        return
    made = Table(family, rows)
    formats.write(_parts(made, chosen, display.is_terminal(out)), out, _form(made, chosen))


def counted(wanted: Sequence[Entry], named: str, confirm: bool, counting: CountingOptions) -> list[Row] | None:
    """The rows of the entries of a table, counted in a ledger; None: this was a dry run, which is printed.

    Ends the command where a signal or the limit of time comes first.
    """
    address, computing = counting.address, counting.computing
    chosen_devices = computing.devices()
    # Before a ledger is created: bad input creates none.
    with existing(address) as found:
        forecast = TableForecast(wanted, chosen_devices, confirm, found)
        cost = Cost(_words(forecast), forecast.seconds, chosen_devices, lambda: "choose a smaller problem")
        if counting.dry_run:
            DryRun(cost, None, place_of(found, address)).print(counting.as_json)
            return None
    cost.require_consent(counting.yes, computing.time_limit)
    new = forecast.found < len(forecast.expected)
    display.say(f"{cost.what}, {cost.length}" if new else cost.what)
    line, stop = ProgressLine(named, forecast.seconds, len(forecast.expected)), StopSignals()
    with Ledger(address, create=True) as ledger:
        try:
            with line.shown():
                return TableCounting(forecast, ledger, Terminal(line, stop), computing.time_limit, outbox_of).rows()
        except Interrupted as error:
            display.say(f"langford: {error} (ledger {ledger.database.where})")
            click.get_current_context().exit(
                code_of_signal(stop.received) if stop.received else ExitCode.INCOMPLETE
            )


def _format(form: str | None, out: Path | None, as_json: bool) -> str:
    named = formats.chosen_format(form, as_json)
    if named is not None or out is None:
        return named or "table"
    if out.suffix not in BY_SUFFIX:
        raise click.UsageError(f"name the file *.csv, *.json or *.txt, or give --format, not {out}")
    return BY_SUFFIX[out.suffix]


def _form(made: Table, form: str) -> OutputForm:
    if form == BFILE:
        return OutputForm("a b-file of this family", re.escape(f"# {made.family.words}: ".encode()))
    return formats.form_of(form, made.columns)


def _words(forecast: TableForecast) -> str:
    are = "is" if forecast.found == 1 else "are"
    found = f"; {forecast.found} {are} already in the ledger" if forecast.found else ""
    wanted, counts = len(forecast.entries), len(forecast.expected)
    return f"{several(wanted, 'entry', 'entries')} from {several(counts, 'count')}{found}"


def _parts(made: Table, form: str, on_terminal: bool) -> Iterable[bytes]:
    if form == BFILE:
        return [made.bfile().encode()]
    return formats.FORMATS[form](Sheet(made.columns, made.cells(), on_terminal=on_terminal))
