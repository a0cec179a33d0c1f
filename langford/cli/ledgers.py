"""``langford ledger copy`` and ``upgrade``: whole ledgers."""

from __future__ import annotations

import click

from db import Database, copying
from db.schema import SCHEMA


@click.group()
def ledger() -> None:
    """Work on a ledger as a whole."""


@ledger.command(
    epilog="""\b
Examples:
  langford ledger copy langford.db postgresql://host/langford
  langford ledger copy postgresql://host/langford backup.db"""
)
@click.argument("source")
@click.argument("target")
def copy(source: str, target: str) -> None:
    """Copy the ledger SOURCE to TARGET, a new file or an empty database, and compare them.

    Row counts and checksums of every table must agree, or nothing is kept.
    """
    for table in copying.copy(source, target):
        print(f"{table.name:<9} {table.rows:>10,} rows  sha256 {table.checksum[:16]}…")


@ledger.command()
@click.argument("where")
def upgrade(where: str) -> None:
    """Bring a ledger of an earlier version to this version's schema."""
    with Database(where, upgrade=True) as database:
        print(f"{database.where} has schema {SCHEMA}")
