"""``langford export`` and ``import``."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import click

from db import Campaign, Ledger
from db.states import TaskState
from jobs import exchange, signing
from jobs.agreement import agreement
from jobs.run import result
from langford.cli import display
from langford.cli.exit_codes import ExitCode
from langford.cli.options import json_option, ledger_option, sign_option
from langford.cli.running import print_result
from langford.cli.terminal import show


@click.command(
    epilog="""\b
Examples:
  langford export langford-28-polyphase-16
  langford export langford-28-polyphase-16 --out part-1.jsonl.gz"""
)
@click.argument("name")
@ledger_option
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Default: NAME.jsonl.gz.")
@sign_option
@json_option
def export(name: str, address: str, out: Path | None, key: Path | None, as_json: bool) -> None:
    """Write a campaign's results, checksummed, to a file that another ledger can import."""
    with Ledger(address) as ledger:
        exported, doubtful = ledger.campaign(name).trusted_export()
    file = out or Path(f"{name}.jsonl.gz")
    signature = signing.write(file, exported.to_bytes(), key)
    if doubtful:
        display.say(
            f"{len(doubtful)} results are in doubt, and left out (first: task {doubtful[0]}): settle them with "
            f"`langford verify {name} --waiting`, then export again"
        )
    if as_json:
        document = {
            "campaign": name,
            "results": len(exported.results),
            "left_out": doubtful,
            "tasks": exported.tasks,
            "file": str(file),
            "signature": None if signature is None else str(signature),
        }
        display.print_json(document)
        return
    show(f"{len(exported.results)} of {exported.tasks} results of {name} in {file}")
    if signature is not None:
        show(f"signed in {signature}")


@click.command(
    "import",
    epilog="""\b
Examples:
  langford import part-1.jsonl.gz part-2.jsonl.gz
  langford import jobs/campaigns/*.jsonl.gz --ledger records.db""",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@ledger_option
@json_option
@click.pass_context
def import_(context: click.Context, files: tuple[Path, ...], address: str, as_json: bool) -> None:
    """Take exported results into a ledger; repeating it changes nothing.

    A result for a task that is done confirms the first one or is recorded as a conflict.
    A campaign that is complete afterwards is merged, and its count compared with what is
    known of it.
    """
    codes = {ExitCode.DONE}
    exports = map(exchange.validated, files)
    first = next(exports)
    imported: list[dict[str, object]] = []
    counts: list[dict[str, object]] = []
    # Only now: a file that is refused creates no ledger.
    with Ledger(address, create=True) as ledger:
        campaigns: dict[str, Campaign] = {}
        for file, export in zip(files, chain([first], exports), strict=True):
            campaign, events = exchange.take_export(ledger, export, file)
            by_kind = {str(kind): events.count(kind) for kind in dict.fromkeys(events) if kind}
            new = events.count(None)
            imported.append({"file": str(file), "campaign": campaign.name, "new": new, **by_kind})
            if not as_json:
                notes = "".join(f", {number} {kind}" for kind, number in by_kind.items())
                show(f"{file}: {new} new results of {campaign.name}{notes}")
            campaigns[campaign.name] = campaign
        for campaign in campaigns.values():
            if campaign.standing().tasks.get(TaskState.DONE) == campaign.tasks:
                codes.add(_add_count(counts, campaign) if as_json else print_result(campaign, as_json=False))
    if as_json:
        display.print_json({"files": imported, "counts": counts})
    context.exit(max(codes))


def _add_count(counts: list[dict[str, object]], campaign: Campaign) -> ExitCode:
    """Merge a campaign and note its count; returns CHECK_FAILED when it is wrong, else DONE."""
    count = result(campaign)
    comparison = agreement(campaign.problem, count.published)
    checked = {"count": str(count.published), "checks": list(count.checks), **comparison.document()}
    counts.append({"campaign": campaign.name, **checked})
    return ExitCode.CHECK_FAILED if comparison.agrees is False else ExitCode.DONE
