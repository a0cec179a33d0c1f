"""What tests of the ledger share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from db import Campaign, Ledger
from tests.support.campaigns import new_campaign
from tests.support.cases import exhaustive
from tests.support.databases import ledger_of_a_test


@pytest.fixture
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """A new ledger: on SQLite, unless a test or its module names others.

    ``test_operations`` calls every operation on Postgres; races, figures, times and people's SQL are tested there;
    CI makes every transition of ``test_ledger`` there, and random histories mix them with the trust in liars.
    """
    with ledger_of_a_test(getattr(request, "param", "sqlite"), tmp_path) as opened:
        yield opened


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The transitions on both."""
    if metafunc.module.__name__.endswith(".test_ledger") and "ledger" in metafunc.fixturenames:
        metafunc.parametrize("ledger", ["sqlite", *exhaustive(["postgres"])], indirect=True)


@pytest.fixture
def campaign(ledger: Ledger) -> Campaign:
    """A small one, with two workers."""
    return new_campaign(ledger)
