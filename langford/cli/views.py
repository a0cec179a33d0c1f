"""``langford tasks``: the tasks of a campaign as a table."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table

from db import Ledger
from db.states import TaskState
from langford.cli import display
from langford.cli.options import json_option, ledger_option
from langford.cli.terminal import plain


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
    table = Table("task", "state", "work", "failures", "seconds", "partial result")
    for task in records:
        seconds = "" if task.seconds is None else f"{task.seconds:.3f}"
        table.add_row(
            str(task.index), task.state, f"{task.work:.3g}", str(task.failures), seconds, plain(task.value or "")
        )
    Console().print(table)
