"""``langford tasks``: the tasks of a campaign as a table."""

from __future__ import annotations

from dataclasses import asdict

import click

from db import Ledger
from db.states import TaskState
from langford.cli.options.common import json_option, ledger_option
from langford.cli.output import display
from langford.cli.output.rows.columns import Column, table, width_of_output


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
    with Ledger(address) as ledger:
        records = ledger.campaign(name).task_records(state)
    if as_json:
        display.print_json([asdict(task) for task in records])
        return
    columns = [
        Column("task", [str(task.index) for task in records], True),
        Column("state", [task.state for task in records]),
        Column("work", [f"{task.work:.3g}" for task in records], True, 4),
        Column("failures", [str(task.failures) for task in records], True, 2),
        Column("seconds", ["" if task.seconds is None else f"{task.seconds:.3f}" for task in records], True, 3),
        Column("partial result", [task.value or "" for task in records], True, 1),
    ]
    print("\n".join(table(columns, width_of_output())))
