"""``langford query``."""

from __future__ import annotations

from pathlib import Path

import click

from db import Database
from db.look.read_only import ask_sql, views
from langford.cli.options.common import format_option, json_option, ledger_option
from langford.cli.options.types import FiniteRange
from langford.cli.output import formats
from langford.cli.output.display import is_terminal
from langford.cli.output.tables import Sheet


@click.command(
    epilog="""\b
Examples:
  langford query
  langford query "SELECT * FROM lost_time" --format csv
  langford query "SELECT * FROM task_overview LIMIT 1" --format expanded
  langford query "SELECT * FROM task_overview WHERE campaign = 'twelve'" --format csv --out tasks.csv
  langford query "SELECT host, count(*) FROM worker_overview GROUP BY host"

Without SELECT, the views are listed.  Partial results and counts are decimal text in every
format, since SQL would round them: `langford result` adds them up."""
)
@click.argument("sql", required=False, metavar="[SELECT]")
@ledger_option
@click.option(
    "--seconds",
    type=FiniteRange(0.01, 86_400),
    default=60.0,
    show_default=True,
    help="Cancel the query after this many seconds.",
)
@format_option(formats.FORMATS, "Default: table.")
@click.option("--out", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
@json_option
def query(sql: str | None, address: str, seconds: float, form: str | None, out: Path | None, as_json: bool) -> None:
    """Query a ledger in SQL that only reads; as a table, CSV or JSON."""
    chosen = formats.chosen_format(form, as_json) or "table"
    on_terminal = is_terminal(out)
    if sql is None:
        sheet = Sheet(("view", "what its rows are"), views(), on_terminal=on_terminal)
        formats.write(formats.FORMATS[chosen](sheet), out, formats.form_of(chosen, sheet.columns))
        return
    with Database(address) as database, ask_sql(database, sql, seconds) as answer:
        sheet = Sheet(answer.columns, answer.rows, on_terminal)
        formats.write(formats.FORMATS[chosen](sheet), out, formats.form_of(chosen, sheet.columns))
