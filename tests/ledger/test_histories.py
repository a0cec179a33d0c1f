"""Random histories of the life of tasks: see tests.support.histories."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.support.histories import Histories


class PostgresHistories(Histories):
    """The same histories on Postgres behind PgBouncer."""

    database = "pgbouncer"


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=4, stateful_step_count=30, deadline=None)
TestPostgresHistories = pytest.mark.exhaustive(PostgresHistories.TestCase)
TestPostgresHistories.settings = settings(max_examples=2, stateful_step_count=20, deadline=None)
