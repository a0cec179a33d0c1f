"""``langford run``, ``result``, ``retry`` and ``recheck``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from db import Campaign, Ledger
from db.errors import LedgerError
from db.files.promise import document as promise_document
from db.files.promise import in_words
from db.look.overview import ID_LENGTH
from jobs.verify import exchange, signing
from langford.cli.campaigns.resuming import key_to_resume, resumed, tell_of_others
from langford.cli.campaigns.running import (
    conclude,
    create_campaign,
    print_campaign_count,
    print_result,
    work_off,
)
from langford.cli.options.common import (
    allowed_signers_option,
    chosen_cores,
    device_option,
    json_option,
    ledger_option,
    patience_option,
    time_limit_option,
    workers_option,
)
from langford.cli.options.groups import CampaignOptions, campaign_options_or_name, method_of
from langford.cli.options.notifying import NotifyOptions, last_seconds, notified, notify_options, say_notice
from langford.cli.options.types import duration, integers
from langford.cli.output import display
from langford.cli.stop_signals import StopSignals
from langford.devices import KINDS, Device, devices
from langford.errors import LangfordError
from langford.methods import candidates

NAMED = 10
"""Workers that a message names at most."""


class NoSuchWorker(LangfordError):
    """A worker of that name holds no task of the campaign."""


@click.command(
    epilog="""\b
Examples:
  langford run langford 19
  langford run langford 19 --method polyphase --depth 10
  langford run skolem 20 --ledger records.db --time-limit 2:00:00
  langford run langford-19-polyphase-10
  langford run --differences 1,2,5,7

Running the same command again resumes the campaign, and so does its name alone.  Exit codes:
0 done, 1 tasks set aside, 2 bad input, 3 incomplete, 4 a result is wrong, 128 + N stopped by signal N."""
)
@campaign_options_or_name
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
@patience_option
@notify_options
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
    patience: float,
    notify: NotifyOptions,
    as_json: bool,
) -> None:
    """Create or resume a campaign and work it off on this machine."""
    if task_time is not None and chosen.depth is not None:
        raise click.UsageError("--task-time chooses the depth: leave --depth out, or --task-time")
    stop, hooks = StopSignals(), notify.hooks()

    def worked_off(ledger: Ledger, campaign: Campaign, chosen_devices: Sequence[Device]) -> int:
        with notified([campaign], hooks, notify.stalled_after, say_notice, lambda: last_seconds(stop)):
            report = work_off(ledger, campaign, chosen_devices, stop, time_limit, patience=patience)
        return conclude(campaign, report, stop, as_json)

    if chosen.resumed is not None:
        if task_time is not None:
            raise click.UsageError("--task-time chooses the depth of a new campaign: leave it out")
        with Ledger(address) as ledger:
            campaign = resumed(ledger, chosen.resumed, device)
            context.exit(worked_off(ledger, campaign, devices(device, chosen_cores(workers))))
    # Before the ledger is opened: bad input creates no ledger.
    choice = method_of(chosen.method_name, chosen.problem(), Device.parse(device), chosen.plan_seed)
    fastest = replace(chosen, method_name=choice.method.name)
    if chosen.depth is not None:
        fastest.key()
    chosen_devices = devices(device, chosen_cores(workers))
    with Ledger(address, create=True) as ledger:
        rivals = candidates(chosen.problem(), device, chosen.plan_seed is not None)
        key = key_to_resume(ledger, chosen, [choice.method, *rivals])
        new = fastest.key(chosen_devices[0], _task_seconds(task_time, device)) if key is None else key
        if key is None:
            tell_of_others(ledger, new)
        campaign = create_campaign(ledger, new, chosen.name, chosen.yes)
        if key is None and choice.reason:
            display.say(f"{chosen.problem()} by {choice.method.name}, {choice.reason}")
        context.exit(worked_off(ledger, campaign, chosen_devices))


def _task_seconds(task_time: float | None, device_kind: str) -> float | None:
    """The time that a task shall take; None: the method suggests a depth."""
    return KINDS[device_kind].task_seconds if task_time is None else task_time


@click.command(
    epilog="""\b
Examples:
  langford result langford-24-polyphase-12
  langford result langford-24-polyphase-12 --unconfirmed
  langford result --from jobs/campaigns/langford-27*.jsonl.gz

Exit codes: 0, 2 bad input, 3 incomplete, or results of the promised share (--replicate) wait for others, 4 a
result is wrong."""
)
@click.argument("names", nargs=-1, required=True)
@ledger_option
@click.option("--from", "from_files", is_flag=True, help="NAMES are exported files of one campaign.")
@allowed_signers_option
@click.option(
    "--unconfirmed",
    is_flag=True,
    help="Merge although results of the promised share (--replicate) wait for others.",
)
@json_option
@click.pass_context
def result(
    context: click.Context,
    names: tuple[str, ...],
    address: str,
    from_files: bool,
    allowed: Path | None,
    unconfirmed: bool,
    as_json: bool,
) -> None:
    """Merge finished campaigns, or exported files, and print the count with its checks.

    A file says which share of its results was promised to be replicated, and which are; files of earlier versions
    record no promise.  With --json one campaign is an object, and several are a list of objects.
    """
    if allowed is not None and not from_files:
        raise click.UsageError("--allowed-signers belongs to --from")
    if not from_files:
        counts: list[object] = []
        with Ledger(address) as ledger:
            codes = [print_result(ledger.campaign(name), as_json, unconfirmed, counts.append) for name in names]
        if as_json:
            display.print_json(counts if len(names) > 1 else counts[0])
        context.exit(max(codes))
    files = [Path(name) for name in names]
    signers = {file: signing.signer(file, allowed) for file in files if file.is_file()}
    export, count = exchange.count_of(files, unconfirmed)
    for file, words in signers.items():
        display.say(f"{file}: {words}")
    seconds = sum(evaluation.seconds for evaluation in export.results)
    first = "take the files into a ledger with `langford import`, then "
    words = "" if export.promise is not None and export.promise.drawn else in_words(export.promise)
    more = promise_document(export.promise)
    context.exit(print_campaign_count(export.name, export.key, count, seconds, as_json, first, more, words))


@click.command(
    epilog="""\b
Examples:
  langford release langford-24-polyphase-12
  langford release langford-24-polyphase-12 --worker node17

Workers that live go on: they lease other tasks, and their late results count."""
)
@click.argument("name")
@click.option(
    "--worker", metavar="W", help="Only leases of this worker: the start of its UUID, or the name of its host."
)
@ledger_option
@json_option
def release(name: str, worker: str | None, address: str, as_json: bool) -> None:
    """Take tasks back from the workers that hold them, so that others get them at once."""
    with Ledger(address) as ledger:
        campaign = ledger.campaign(name)
        note = "taken back by the operator"
        holders = campaign.lease_holders()
        if worker is None:
            taken = campaign.take_back(note)
        else:
            known = [f"{holder.worker_id[:ID_LENGTH]} on {holder.host}" for holder in holders[:NAMED]]
            holders = [holder for holder in holders if worker == holder.host or holder.worker_id.startswith(worker)]
            if not holders:
                raise NoSuchWorker(
                    f"no worker {worker!r:.80} holds tasks of {name}, but {', '.join(known) or 'nobody'}"
                )
            taken = sum(campaign.take_back(note, holder.worker_id) for holder in holders)
    if as_json:
        display.print_json({"campaign": name, "released": taken, "workers": len(holders)})
    else:
        print(f"{taken} tasks of {len(holders)} workers go back to the queue")


@click.command(
    epilog="""\b
Examples:
  langford retry langford-24-polyphase-12"""
)
@click.argument("name")
@ledger_option
@json_option
def retry(name: str, address: str, as_json: bool) -> None:
    """Put the tasks that were set aside back into the queue."""
    with Ledger(address) as ledger:
        reopened = ledger.campaign(name).reopen()
    if as_json:
        display.print_json({"campaign": name, "reopened": reopened})
    else:
        print(f"{reopened} tasks go back to the queue")


@click.command(
    epilog="""\b
Examples:
  langford recheck langford-24-polyphase-12 3 17
  langford recheck langford-24-polyphase-12 --worker node-17
  langford recheck langford-24-polyphase-12 --kernel 0f3a29c4d1e8b765"""
)
@click.argument("name")
@click.argument("task_lists", nargs=-1, type=integers, metavar="[TASKS]...")
@click.option("--worker", help="All results of this worker, or of all workers of this host.")
@click.option("--kernel", metavar="HASH", help="All results that these kernels computed.")
@click.option("--all", "everything", is_flag=True, help="All results.")
@ledger_option
@json_option
def recheck(
    name: str,
    task_lists: tuple[list[int], ...],
    worker: str | None,
    kernel: str | None,
    everything: bool,
    address: str,
    as_json: bool,
) -> None:
    """Put results in question: others evaluate them again, and the merge waits for that.

    They are no votes any more.  Workers of any host may evaluate them again, or `langford verify --waiting`.
    """
    chosen = sorted({index for indices in task_lists for index in indices})
    if sum(map(bool, (chosen, worker, kernel, everything))) != 1:
        raise click.UsageError("say which results: TASKS, --worker, --kernel or --all, one of them")
    with Ledger(address) as ledger:
        campaign = ledger.campaign(name)
        for index in chosen:
            campaign.plan.require(index)
        questioned = campaign.question(chosen or None, worker, kernel)
    if not questioned:
        raise LedgerError(
            f"{name} has no such result that is not in question already: `langford tasks {name} --json` shows "
            "their hosts and kernels"
        )
    if as_json:
        display.print_json({"campaign": name, "questioned": sorted(questioned)})
        return
    print(
        f"{len(questioned)} results of {name} are in question: run workers, or `langford verify {name} --waiting`"
    )
