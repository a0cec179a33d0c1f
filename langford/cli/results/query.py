"""``langford query``."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import click

from db import Database
from db.look.questions import QUESTIONS, Filters, ask
from db.look.read_only import QueryResult, ask_sql
from langford.cli.options.common import format_option, json_option, ledger_option
from langford.cli.options.groups import gathered
from langford.cli.options.types import FiniteRange, duration
from langford.cli.output import formats
from langford.cli.output.display import is_terminal
from langford.cli.output.tables import Sheet


def moment(text: str) -> float:
    """A time in seconds since 1970, from "2026-01-31", "2026-01-31T12:30", "90m" or "1:30:00" ago."""
    try:
        if "-" not in text:
            at = time.time() - duration(text)
        else:
            written = datetime.fromisoformat(text)
            at = (written if written.tzinfo else written.replace(tzinfo=UTC)).timestamp()
    except (click.BadParameter, ValueError, OverflowError):
        at = -1.0
    if at < 0:
        raise click.BadParameter("write a date or time in UTC, like 2026-01-31T12:30, or a time ago: 90m, 12h, 2d")
    return at


@click.command(
    epilog="""\b
Examples:
  langford query
  langford query worker_overview --campaign langford-28-polyphase-16 --since 12h
  langford query lost_time --state preempted --format csv
  langford query task_overview --limit 1 --format expanded
  langford query task_overview --format csv --out tasks.csv
  langford query --sql "SELECT host, count(*) FROM worker_overview GROUP BY host"

Without VIEW, the views are listed.  Partial results and counts are decimal text in every
format: exact_sum adds them up in SQLite, sum(value::numeric) in Postgres."""
)
@click.argument("question", required=False, type=click.Choice(list(QUESTIONS)), metavar="[VIEW]")
@ledger_option
@gathered(
    "filters",
    Filters,
    click.option("--campaign", metavar="NAME", help="Only rows of this campaign."),
    click.option("--worker", metavar="W", help="Only rows of this worker: the start of its UUID, or its host."),
    click.option(
        "--since", type=moment, metavar="TIME", help="Only rows since: 2026-01-31T12:30 (UTC), or 90m, 12h, 2d."
    ),
    click.option("--state", metavar="S", help="Only rows in this state: of tasks, attempts or workers."),
    click.option("--limit", type=click.IntRange(0, 2**31 - 1), metavar="N", help="Print up to N rows."),
)
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
    filters: Filters,
    sql: str | None,
    seconds: float,
    form: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Query a ledger: views, or SQL that only reads; as a table, CSV or JSON."""
    chosen = formats.chosen_format(form, as_json) or "table"
    if sql is not None and (question is not None or filters != Filters()):
        raise click.UsageError("--sql is a query of its own: leave the name and the filters out")
    on_terminal = is_terminal(out)
    if question is None and sql is None:
        if filters != Filters():
            raise click.UsageError(f"name a view: {', '.join(QUESTIONS)}")
        listed = ((question.view.name, question.view.summary) for question in QUESTIONS.values())
        sheet = Sheet(("view", "what its rows are"), listed, on_terminal=on_terminal)
        formats.write(formats.FORMATS[chosen](sheet), out, formats.form_of(chosen, sheet.columns))
        return
    with (
        Database(address) as database,
        _asked(database, question, sql, filters, seconds, chosen == "table") as answer,
    ):
        sheet = Sheet(answer.columns, answer.rows, on_terminal)
        formats.write(formats.FORMATS[chosen](sheet), out, formats.form_of(chosen, sheet.columns))


def _asked(
    database: Database, question: str | None, sql: str | None, filters: Filters, seconds: float, leading: bool
) -> AbstractContextManager[QueryResult]:
    if sql is not None:
        return ask_sql(database, sql, seconds)
    assert question is not None
    return ask(database, QUESTIONS[question], filters, seconds, leading)
