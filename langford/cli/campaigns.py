"""``langford run``, ``result``, ``verify`` and ``retry``."""

from __future__ import annotations

from pathlib import Path

import click

from db import Ledger
from jobs import exchange
from jobs import verify as verification
from langford.cli.exit_codes import ExitCode
from langford.cli.option_groups import CampaignOptions, campaign_options, method_of
from langford.cli.options import (
    device_option,
    json_option,
    ledger_option,
    seed_option,
    time_limit_option,
    workers_option,
)
from langford.cli.parameter_types import duration
from langford.cli.running import (
    StopSignals,
    conclude,
    create_campaign,
    print_campaign_count,
    print_result,
    work_off,
)
from langford.devices import CPU, cores, devices
from langford.methods import PlanKey

GPU_TASK_SECONDS = 20.0
"""Time of a task on a GPU, unless --task-time or --depth is given."""


@click.command(
    epilog="""\b
Examples:
  langford run langford 19
  langford run langford 19 --method polyphase --depth 10
  langford run skolem 20 --ledger records.db --time-limit 2:00:00

Running the same command again resumes the campaign.  Exit codes: 0 done, 1 tasks set
aside, 2 bad input, 3 incomplete, 4 a check failed, 128 + N stopped by signal N."""
)
@campaign_options
@click.option(
    "--task-time",
    type=duration,
    metavar="TIME",
    help="Choose the depth for tasks of at most this time, measured here; default on GPUs: 20 s.",
)
@ledger_option
@workers_option
@device_option
@time_limit_option
@json_option
@click.pass_context
def run(
    context: click.Context,
    chosen: CampaignOptions,
    task_time: float | None,
    address: str,
    workers: int | None,
    device: str,
    time_limit: float | None,
    as_json: bool,
) -> None:
    """Create or resume a campaign and work it off on this machine."""
    stop = StopSignals()
    # Before the ledger is opened: bad input creates no ledger.
    method_of(chosen.method_name, chosen.problem(), device)
    if chosen.depth is not None:
        chosen.key()
    chosen_devices = devices(device, workers or cores())
    with Ledger(address, create=True) as ledger:
        key = _key_to_resume(ledger, chosen) or chosen.key(chosen_devices[0], _task_seconds(task_time, device))
        campaign = create_campaign(ledger, key, chosen.name)
        report = work_off(ledger, campaign, chosen_devices, stop, time_limit)
        context.exit(conclude(campaign, report, stop, as_json))


def _key_to_resume(ledger: Ledger, chosen: CampaignOptions) -> PlanKey | None:
    """The plan of the campaign that the command resumes when no depth is given; None for a new campaign."""
    if chosen.depth is not None:
        return None
    problem = chosen.problem()
    method = method_of(chosen.method_name, problem)
    for campaign in ledger.campaigns():
        same_count = campaign.problem == problem and campaign.key.method == method.name
        if same_count and chosen.name in (None, campaign.name):
            return campaign.key
    return None


def _task_seconds(task_time: float | None, device_kind: str) -> float | None:
    """The time that a task shall take; None: the method suggests a depth."""
    return GPU_TASK_SECONDS if task_time is None and device_kind != CPU.kind else task_time


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
def result(names: tuple[str, ...], address: str, from_files: bool, as_json: bool) -> None:
    """Merge finished campaigns, or exported files, and print the count with its checks."""
    if not from_files:
        with Ledger(address) as ledger:
            for name in names:
                print_result(ledger.campaign(name), as_json)
        return
    export, count = exchange.count_of([Path(name) for name in names])
    seconds = sum(evaluation.seconds for evaluation in export.results)
    print_campaign_count(export.name, export.key, count, seconds, as_json)


@click.command()
@click.argument("name")
@ledger_option
def retry(name: str, address: str) -> None:
    """Put the tasks that were set aside back into the queue."""
    with Ledger(address) as ledger:
        print(f"{ledger.campaign(name).reopen()} tasks go back to the queue")


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
    metavar="K",
    default=3,
    show_default=True,
    help="Without INDICES: recompute K random tasks.",
)
@seed_option
@click.pass_context
def verify(
    context: click.Context, name: str, indices: tuple[int, ...], address: str, sample: int, seed: int | None
) -> None:
    """Recompute tasks of a campaign on this machine and compare."""
    verdicts = set()
    with Ledger(address) as ledger:
        campaign = ledger.campaign(name)
        tasks = list(indices) or verification.choose(campaign, sample, seed)
        for comparison in verification.compare(campaign, tasks):
            print(f"task {comparison.index}: {comparison.recomputed} {comparison.verdict}")
            verdicts.add(comparison.verdict)
    if "differs" in verdicts:
        context.exit(ExitCode.CHECK_FAILED)
