"""A fresh ledger, once in SQLite and once in Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from db import Ledger
from tests.databases import fresh_database


@pytest.fixture(params=["sqlite", "postgres"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(fresh_database(request.param, tmp_path), create=True) as opened:
        yield opened
