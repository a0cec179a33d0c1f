"""What tests of the ledger share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from db import Campaign, Ledger
from tests.support.campaigns import new_campaign
from tests.support.cases import exhaustive
from tests.support.databases import ledger_of_a_test


@pytest.fixture(params=["sqlite", *exhaustive(["postgres"])])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """A new ledger, every day on SQLite alone.

    On Postgres ``test_statements`` sends every statement, and races and people's SQL are tested; CI makes every
    transition on it, and random histories mix them.
    """
    with ledger_of_a_test(request.param, tmp_path) as opened:
        yield opened


@pytest.fixture
def campaign(ledger: Ledger) -> Campaign:
    """A small one, with two workers."""
    return new_campaign(ledger)
