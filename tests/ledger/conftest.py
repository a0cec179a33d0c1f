"""What tests of the ledger share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from db import Campaign, Ledger
from tests.support.campaigns import new_campaign
from tests.support.databases import ledger_of_a_test


@pytest.fixture
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """A new ledger: on SQLite, unless a test or its module names others.

    ``test_operations`` calls every operation on Postgres; races, times and people's SQL are tested there, and in CI
    random histories, of which each output says the same.
    """
    with ledger_of_a_test(getattr(request, "param", "sqlite"), tmp_path) as opened:
        yield opened


@pytest.fixture
def campaign(ledger: Ledger) -> Campaign:
    """A small one, with two workers."""
    return new_campaign(ledger)
