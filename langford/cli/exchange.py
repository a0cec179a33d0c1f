"""``langford export`` and ``import``."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import click

from db import Ledger
from jobs import exchange
from langford.cli.options import ledger_option
from langford.durable import replace_file


@click.command(
    epilog="""\b
Examples:
  langford export langford-28-polyphase-16
  langford export langford-28-polyphase-16 --out part-1.jsonl.gz"""
)
@click.argument("name")
@ledger_option
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Default: NAME.jsonl.gz.")
def export(name: str, address: str, out: Path | None) -> None:
    """Write a campaign's results, checksummed, to a file that another ledger can import."""
    with Ledger(address) as ledger:
        exported = ledger.campaign(name).export()
    file = out or Path(f"{name}.jsonl.gz")
    replace_file(file, exported.to_bytes())
    print(f"{len(exported.results)} of {exported.tasks} results of {name} in {file}")


@click.command(
    "import",
    epilog="""\b
Examples:
  langford import part-1.jsonl.gz part-2.jsonl.gz
  langford import jobs/campaigns/*.jsonl.gz --ledger records.db""",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@ledger_option
def import_(files: tuple[Path, ...], address: str) -> None:
    """Take exported results into a ledger; repeating it changes nothing.

    A result for a task that is done confirms the first one or is recorded as a conflict.
    """
    exports = map(exchange.validated, files)
    first = next(exports)
    # Only now: a file that is refused creates no ledger.
    with Ledger(address, create=True) as ledger:
        for file, export in zip(files, chain([first], exports), strict=True):
            campaign, events = exchange.take_export(ledger, export)
            by_kind = {kind: events.count(kind) for kind in dict.fromkeys(events) if kind}
            notes = "".join(f", {number} {kind}" for kind, number in by_kind.items())
            print(f"{file}: {events.count(None)} new results of {campaign.name}{notes}")
