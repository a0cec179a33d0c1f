"""``langford cancel``, ``rename`` and ``delete``, and ``langford ledger`` for whole ledgers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from db import Database
from db.files.promise import document as promise_document
from db.files.promise import in_words
from db.store import copying
from db.store.addresses import without_password
from db.store.revision import SCHEMA
from jobs.verify import exchange
from langford.cli.campaigns.opening import campaign_to_change
from langford.cli.lazy import ListingGroup
from langford.cli.options.common import json_option, ledger_option, name_argument, without_open_password
from langford.cli.output import display
from langford.errors import BadInput
from langford.ledger import Ledger
from langford.words import several


@click.command(
    epilog="""\b
Examples:
  langford cancel langford-24-polyphase-12
  langford cancel langford-24-polyphase-12 --ledger records.db --json

`langford retry NAME` resumes the campaign.  Results that running workers deliver later still count."""
)
@name_argument
@ledger_option
@json_option
def cancel(name: str, address: str, as_json: bool) -> None:
    """Stop a campaign: set all its unfinished tasks aside; its workers then end."""
    with Ledger(address) as ledger:
        campaign = campaign_to_change(name, ledger)
        leases, tasks = campaign.operator.cancel()
    words = f"{several(tasks, 'task')} of {campaign.name} set aside, {leases:,} of them taken from workers"
    display.outcome(words, {"campaign": campaign.name, "released": leases, "set_aside": tasks}, as_json)


@click.command(
    epilog="""\b
Examples:
  langford rename langford-24-polyphase-12 record
  langford rename record langford-24 --ledger records.db

A running server uses the old name until it is restarted."""
)
@name_argument
@click.argument("new_name")
@ledger_option
@json_option
def rename(name: str, new_name: str, address: str, as_json: bool) -> None:
    """Give a campaign another name."""
    with Ledger(address) as ledger:
        campaign = campaign_to_change(name, ledger)
        name = campaign.name
        campaign.operator.rename(new_name)
    display.outcome(f"{name} is now called {new_name}", {"campaign": new_name, "before": name}, as_json)


@click.command(
    epilog="""\b
Examples:
  langford delete langford-12-polyphase-8
  langford delete langford-12-polyphase-8 --yes --out kept/l12.jsonl.gz

`langford import` restores the results and the promise (--replicate).  The results selected for replication must
then be confirmed again."""
)
@name_argument
@click.option("--yes", is_flag=True, help="Delete without asking.")
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), help="The file for its export; default: NAME.jsonl.gz."
)
@ledger_option
@json_option
def delete(name: str, yes: bool, out: Path | None, address: str, as_json: bool) -> None:
    """Delete a campaign from its ledger, and keep an export of its results."""
    with Ledger(address) as ledger:
        campaign = campaign_to_change(name, ledger)
        name = campaign.name
        file = out or exchange.file_of(name)
        kept = campaign.reader.trusted_export()
        # A command that was killed may have written the export already.
        if file.exists() and not exchange.holds(file, kept):
            raise BadInput(f"{file} exists, and the export of {name} would replace it: give another --out")
        doubtful, results = kept.left_out, len(kept.tasks)
        what = f"{name} with results of {results:,} of its {several(campaign.tasks, 'task')}"
        if doubtful:
            what += f", and {several(len(doubtful), 'result')} in doubt, which would be lost"
        kept_in = f"{what} is kept in {file}"
        if not (yes or display.confirmed(f"{kept_in}. Delete the campaign?")):
            raise BadInput(f"{kept_in}: answer the question on a terminal, or give --yes")
        exchange.delete(campaign, kept, file)
    document = {"campaign": name, "results": results, "left_out": doubtful, "file": str(file)}
    lost = f"\n{several(len(doubtful), 'result')} in doubt lost" if doubtful else ""
    words = f"{name} is deleted; {several(results, 'result')} kept in {file}\npromise   {in_words(kept.promise)}"
    display.outcome(words + lost, {**document, **promise_document(kept.promise)}, as_json)


@click.group(cls=ListingGroup)
def ledger() -> None:
    """Work on a ledger as a whole."""


@ledger.command(
    epilog="""\b
Examples:
  langford ledger copy langford.db postgresql://host/langford
  langford ledger copy postgresql://host/langford backup.db"""
)
@click.argument("source", callback=without_open_password)
@click.argument("target", callback=without_open_password)
@json_option
def copy(source: str, target: str, as_json: bool) -> None:
    """Copy the ledger SOURCE to TARGET, a new file or an empty database, and compare them.

    Row counts and checksums of every table must agree, or nothing is kept.
    """
    tables = copying.copy(source, target)
    if as_json:
        display.print_json([asdict(table) for table in tables])
        return
    for table in tables:
        print(f"{table.name:<9} {several(table.rows, 'row'):>15}  sha256 {table.checksum[:16]}…")


@ledger.command(
    epilog="""\b
Examples:
  langford ledger upgrade
  langford ledger upgrade --ledger postgresql://host/langford"""
)
@ledger_option
@json_option
def upgrade(address: str, as_json: bool) -> None:
    """Bring a ledger of an earlier version to this version's schema.

    Back it up first: an earlier version cannot read it afterwards.
    """
    Database.upgrade(address)
    named = without_password(address)
    display.outcome(f"{named} has schema {SCHEMA}", {"ledger": named, "schema": SCHEMA}, as_json)
