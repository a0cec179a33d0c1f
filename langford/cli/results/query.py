"""``langford query``."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import click

from db import Database
from db.look.questions import QUESTIONS, ask
from db.look.read_only import QueryResult, ask_sql
from langford.cli.options.common import format_option, json_option, ledger_option
from langford.cli.options.types import FiniteRange
from langford.cli.output import formats
from langford.cli.output.display import is_terminal
from langford.cli.output.tables import Sheet


@click.command(
    epilog="""\b
Examples:
  langford query
  langford query worker_overview --campaign langford-28-polyphase-16
  langford query lost_time --format csv
  langford query task_overview --limit 1 --format expanded
  langford query task_overview --format csv --out tasks.csv
  langford query --sql "SELECT host, count(*) FROM worker_overview GROUP BY host"
  langford query --sql "SELECT * FROM task_overview WHERE host = 'node17' AND state = 'done'"

Without VIEW, the views are listed.  Partial results and counts are decimal text in every
format: exact_sum adds them up in SQLite, sum(value::numeric) in Postgres."""
)
@click.argument("question", required=False, type=click.Choice(list(QUESTIONS)), metavar="[VIEW]")
@ledger_option
@click.option("--campaign", metavar="NAME", help="Only rows of this campaign.")
@click.option("--limit", type=click.IntRange(0, 2**31 - 1), metavar="N", help="Print up to N rows.")
@click.option("--sql", metavar="SELECT", help="Your own query; it can only read.")
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
def query(
    question: str | None,
    address: str,
    campaign: str | None,
    limit: int | None,
    sql: str | None,
    seconds: float,
    form: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Query a ledger: views, or SQL that only reads; as a table, CSV or JSON."""
    chosen = formats.chosen_format(form, as_json) or "table"
    is_chosen = campaign is not None or limit is not None
    if sql is not None and (question is not None or is_chosen):
        raise click.UsageError("--sql is a query of its own: leave the name, --campaign and --limit out")
    on_terminal = is_terminal(out)
    if question is None and sql is None:
        if is_chosen:
            raise click.UsageError(f"name a view: {', '.join(QUESTIONS)}")
        listed = ((question.view.name, question.view.summary) for question in QUESTIONS.values())
        sheet = Sheet(("view", "what its rows are"), listed, on_terminal=on_terminal)
        formats.write(formats.FORMATS[chosen](sheet), out, formats.form_of(chosen, sheet.columns))
        return
    leading = chosen == "table"
    with Database(address) as database:
        asked: AbstractContextManager[QueryResult]
        if question is None:
            assert sql is not None
            asked = ask_sql(database, sql, seconds)
        else:
            asked = ask(database, QUESTIONS[question], campaign, limit, seconds, leading)
        with asked as answer:
            sheet = Sheet(answer.columns, answer.rows, on_terminal)
            formats.write(formats.FORMATS[chosen](sheet), out, formats.form_of(chosen, sheet.columns))
