"""``langford tasks``: the tasks of a campaign as a table."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter

import click

from db import Ledger
from db.records import TaskRecord
from db.states import TaskState
from langford.cli.options.common import json_option, ledger_option
from langford.cli.output.rows import formats
from langford.cli.output.rows.columns import Column, streamed, width_of_output


@click.command(
    epilog="""\b
Examples:
  langford tasks langford-24-polyphase-12
  langford tasks langford-24-polyphase-12 --state set-aside
  langford tasks langford-24-polyphase-12 --state done --json"""
)
@click.argument("name")
@ledger_option
@click.option("--state", type=click.Choice([state.value for state in TaskState]))
@json_option
def tasks(name: str, address: str, state: str | None, as_json: bool) -> None:
    """List a campaign's tasks with their results."""
    columns = [
        Column("task", right=True),
        Column("state"),
        Column("work", right=True, rank=4),
        Column("failures", right=True, rank=2),
        Column("seconds", right=True, rank=3),
        Column("partial result", right=True, rank=1),
    ]
    with Ledger(address) as ledger, ledger.campaign(name).reading_tasks(state) as records:
        if as_json:
            names = [field.name for field in fields(TaskRecord)]
            formats.write(formats.json_array(names, map(attrgetter(*names), records())), None)
            return
        for line in streamed(columns, lambda: map(_cells, records()), width_of_output()):
            print(line)


def _cells(task: TaskRecord) -> tuple[str, ...]:
    seconds = "" if task.seconds is None else f"{task.seconds:.3f}"
    return str(task.index), task.state, f"{task.work:.3g}", str(task.failures), seconds, task.value or ""
