"""``langford status`` and ``tasks``: the campaigns and tasks of a ledger as tables."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from db import Ledger
from db.states import TaskState
from langford.cli import display
from langford.cli.options import json_option, ledger_option
from langford.cli.terminal import plain


@click.command(
    epilog="""\b
Examples:
  langford status
  langford status langford-24-polyphase-12 --ledger records.db --json"""
)
@click.argument("name", required=False)
@ledger_option
@json_option
def status(name: str | None, address: str, as_json: bool) -> None:
    """Show how far the campaigns of a ledger are."""
    with Ledger(address) as ledger:
        campaigns = [ledger.campaign(name)] if name else ledger.campaigns()
        rows = [(campaign, campaign.progress()) for campaign in campaigns]
    if as_json:
        display.print_json(
            [
                {
                    "campaign": campaign.name,
                    "problem": campaign.problem.name,
                    "method": campaign.key.method,
                    "depth": campaign.key.depth,
                    "seed": campaign.key.seed,
                    "tasks": progress.tasks,
                    "work": progress.work,
                    "share_of_work": _share(campaign.work, progress.work),
                    "seconds": progress.seconds,
                    "evaluated": str(progress.evaluated),
                    "attempts": progress.attempts,
                    "confirmed": progress.confirmed,
                    "conflicts": progress.conflicts,
                    "rechecks": progress.rechecks,
                    "share": campaign.recheck_share,
                    "drawn": progress.replication.drawn,
                    "replicated": progress.replication.replicated,
                }
                for campaign, progress in rows
            ]
        )
        return
    table = Table()
    for heading in ("campaign", "tasks", "done", "leased", "work", "computing time", "notes"):
        table.add_column(heading, justify="left" if heading in ("campaign", "notes") else "right", overflow="fold")
    for campaign, progress in rows:
        notes = {
            "set aside": progress.tasks.get("set-aside", 0),
            "confirmed": progress.confirmed,
            "in conflict": progress.conflicts,
            "to recheck": progress.rechecks,
            f"of {progress.replication.drawn:,} replicated": progress.replication.replicated,
        }
        table.add_row(
            Text(plain(campaign.name)),
            f"{campaign.tasks:,}",
            f"{progress.tasks.get('done', 0):,}",
            f"{progress.tasks.get('leased', 0):,}",
            f"{_share(campaign.work, progress.work):.1%}",
            display.duration(progress.seconds),
            ", ".join(f"{number} {label}" for label, number in notes.items() if number),
        )
    Console().print(table)


def _share(total_work: float, work_by_state: dict[str, float]) -> float:
    """The share of the work that is done."""
    return work_by_state.get("done", 0.0) / total_work if total_work else 1.0


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
