"""``langford ledger copy`` and ``upgrade``: whole ledgers."""

from __future__ import annotations

from dataclasses import asdict

import click

from db import Database
from db.store import copying
from db.store.revision import SCHEMA
from langford.cli.lazy import ListingGroup
from langford.cli.options.common import json_option, without_open_password
from langford.cli.output import display
from langford.words import several


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
  langford ledger upgrade langford.db
  langford ledger upgrade postgresql://host/langford"""
)
@click.argument("where", callback=without_open_password)
@json_option
def upgrade(where: str, as_json: bool) -> None:
    """Bring a ledger of an earlier version to this version's schema.

    A ledger in a file is copied first, to FILE.schema-NNNN beside it; back up one on a server yourself.
    """
    with Database(where, upgrade=True) as database:
        copy = database.copy_before_upgrade
        if as_json:
            display.print_json({"ledger": database.where, "schema": SCHEMA, "copy": copy and str(copy)})
            return
        print(f"{database.where} has schema {SCHEMA}")
        if copy is not None:
            print(f"{copy} is the ledger as it was before")
