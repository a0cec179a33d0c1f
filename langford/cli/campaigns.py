"""``langford run``, ``status``, ``result``, ``tasks``, ``verify`` and ``retry``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from langford.cli.options import METHOD_NAMES, chosen_method, device_option, json_option, ledger_option
from langford.cli.running import (
    StopSignals,
    conclude,
    create_campaign,
    print_count,
    print_result,
    seconds_of,
    work_off,
)
from langford.devices import cores
from langford.problem import Problem
from langford.variants import VARIANTS

WRONG = 4
GPU_TASK_SECONDS = 20.0


@click.command(
    epilog="""\b
Examples:
  langford run langford 19
  langford run langford 19 --method polyphase --depth 10
  langford run skolem 20 --ledger records.db --time-limit 2:00:00

Running the same command again resumes the campaign.  Exit codes: 0 done, 1 tasks set
aside, 2 bad input, 3 incomplete, 4 a check failed, 128 + N stopped by signal N."""
)
@click.argument("variant", type=click.Choice(list(VARIANTS)))
@click.argument("n", type=int)
@click.option("--copies", "-s", type=int, default=2, show_default=True, help="Cubes of each colour.")
@click.option("--method", type=click.Choice(METHOD_NAMES), help="Default: the fastest that applies.")
@click.option(
    "--depth",
    "-p",
    type=int,
    help="Task depth; default: that of the campaign in the ledger, else one "
    "that makes tasks of seconds to minutes.",
)
@click.option(
    "--task-time",
    callback=seconds_of,
    metavar="TIME",
    help="Choose the depth for tasks of at most this time, measured here; default on GPUs: 20 s.",
)
@click.option("--name", help="The campaign's name; default: problem, method and depth.")
@ledger_option
@click.option("--workers", type=click.IntRange(min=1), help="Processes on the CPU; default: one per core.")
@device_option
@click.option(
    "--time-limit", callback=seconds_of, metavar="TIME", help="Stop in good time before: seconds or HH:MM:SS."
)
@json_option
@click.pass_context
def run(
    context: click.Context,
    variant: str,
    n: int,
    copies: int,
    method: str | None,
    depth: int | None,
    task_time: float | None,
    name: str | None,
    ledger: str,
    workers: int | None,
    device: str,
    time_limit: float | None,
    as_json: bool,
) -> None:
    """Create or resume a campaign and work it off on this machine."""
    problem = Problem.named(variant, n, copies)
    stop = StopSignals()
    from db import Ledger
    from jobs.evaluation import plan_of
    from langford.devices import devices
    from langford.methods import PlanKey

    way = chosen_method(method, problem)
    places = devices(device, workers or cores())
    if depth is not None:
        plan_of(PlanKey(problem, way.name, depth))  # a bad depth leaves no ledger behind
    book = Ledger(ledger, create=True)
    if depth is None:
        depth = _depth(book, name, problem, way, places[0], task_time)
    campaign = create_campaign(book, PlanKey(problem, way.name, depth), name)
    report = work_off(book, campaign, places, stop, time_limit)
    context.exit(conclude(book, campaign, report, stop, ledger, as_json))


def _depth(book: Any, name: str | None, problem: Problem, method: Any, device: Any, seconds: float | None) -> int:
    """The depth of the campaign that the command resumes, or one for a new campaign."""
    from langford.devices import CPU
    from langford.methods import task_depth

    for campaign in book.campaigns():
        same = (campaign.problem, campaign.key.method) == (problem, method.name)
        if same and name in (None, campaign.name):
            return int(campaign.key.depth)
    if seconds is None and device == CPU:
        return int(method.suggested_depth(problem))
    return task_depth(problem, method, device, seconds or GPU_TASK_SECONDS)


@click.command()
@click.argument("name", required=False)
@ledger_option
@json_option
def status(name: str | None, ledger: str, as_json: bool) -> None:
    """Show how far the campaigns of a ledger are."""
    from db import Ledger
    from langford.cli import display

    book = Ledger(ledger)
    campaigns = [book.campaign(name)] if name else book.campaigns()
    found = [(campaign, campaign.progress()) for campaign in campaigns]
    if as_json:
        display.print_json(
            [
                {
                    "campaign": campaign.name,
                    "problem": campaign.problem.name,
                    "method": campaign.key.method,
                    "depth": campaign.key.depth,
                    "tasks": progress.tasks,
                    "work": progress.work,
                    "share_of_work": _share(campaign.work, progress.work),
                    "seconds": progress.seconds,
                    "evaluated": str(progress.evaluated),
                    "attempts": progress.attempts,
                    "confirmed": progress.confirmed,
                    "conflicts": progress.conflicts,
                    "rechecks": progress.rechecks,
                }
                for campaign, progress in found
            ]
        )
        return
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for heading in ("campaign", "tasks", "done", "leased", "work", "computing time", "notes"):
        table.add_column(heading, justify="left" if heading in ("campaign", "notes") else "right", overflow="fold")
    for campaign, progress in found:
        notes = {
            "set aside": progress.tasks.get("set-aside", 0),
            "confirmed": progress.confirmed,
            "in conflict": progress.conflicts,
            "to recheck": progress.rechecks,
        }
        table.add_row(
            campaign.name,
            f"{campaign.tasks:,}",
            f"{progress.tasks.get('done', 0):,}",
            f"{progress.tasks.get('leased', 0):,}",
            f"{_share(campaign.work, progress.work):.1%}",
            display.duration(progress.seconds),
            ", ".join(f"{number} {what}" for what, number in notes.items() if number),
        )
    Console().print(table)


def _share(total: float, work: dict[str, float]) -> float:
    return work.get("done", 0.0) / total if total else 1.0


@click.command(
    epilog="""\b
Examples:
  langford result langford-24-polyphase-12
  langford result --from jobs/campaigns/langford-27*.jsonl.gz"""
)
@click.argument("names", nargs=-1, required=True)
@ledger_option
@click.option("--from", "from_files", is_flag=True, help="NAMES are exported files of one campaign.")
@json_option
def result(names: tuple[str, ...], ledger: str, from_files: bool, as_json: bool) -> None:
    """Merge finished campaigns, or exported files, and print the count with its checks."""
    from db import Ledger
    from langford.cli import display

    if not from_files:
        for name in names:
            print_result(Ledger(ledger), name, as_json)
        return
    from jobs import exchange

    export, count = exchange.count_of([Path(name) for name in names])
    seconds = sum(each.seconds for each in export.results)
    key = export.key
    print_count(display, export.name, key.problem, key.method, key.depth, count, seconds, as_json)


@click.command()
@click.argument("name")
@ledger_option
@click.option("--state", type=click.Choice(["ready", "leased", "done", "set-aside"]))
@json_option
def tasks(name: str, ledger: str, state: str | None, as_json: bool) -> None:
    """List a campaign's tasks with their results."""
    from dataclasses import asdict

    from db import Ledger
    from langford.cli import display

    book = Ledger(ledger)
    found = book.campaign(name).task_records(state)
    if as_json:
        display.print_json([asdict(task) for task in found])
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("task", "state", "work", "failures", "seconds", "partial result")
    for task in found:
        seconds = "" if task.seconds is None else f"{task.seconds:.3f}"
        table.add_row(
            str(task.index), task.state, f"{task.work:.3g}", str(task.failures), seconds, task.value or ""
        )
    Console().print(table)


@click.command()
@click.argument("name")
@ledger_option
def retry(name: str, ledger: str) -> None:
    """Put the tasks that were set aside back into the queue."""
    from db import Ledger

    book = Ledger(ledger)
    print(f"{book.campaign(name).reopen()} tasks go back to the queue")


@click.command(
    epilog="""\b
Examples:
  langford verify langford-19-polyphase-12 --sample 5
  langford verify langford-19-polyphase-12 3 17"""
)
@click.argument("name")
@click.argument("indices", nargs=-1, type=int)
@ledger_option
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Without INDICES: recompute so many random tasks.",
)
@click.option("--seed", type=int, help="Make the sample reproducible.")
@click.pass_context
def verify(
    context: click.Context, name: str, indices: tuple[int, ...], ledger: str, sample: int, seed: int | None
) -> None:
    """Recompute tasks of a campaign on this machine and compare."""
    from db import Ledger
    from jobs import verify as verification

    book = Ledger(ledger)
    campaign = book.campaign(name)
    chosen = list(indices) or verification.choose(campaign, sample, seed)
    verdicts = set()
    for each in verification.compare(campaign, chosen):
        print(f"task {each.index}: {each.recomputed} {each.verdict}")
        verdicts.add(each.verdict)
    if "differs" in verdicts:
        context.exit(WRONG)
