"""The numbers that pages promise are those that the program decides by.

Tests of the decisions use the program's constants, so that they pass with any number.
"""

from __future__ import annotations

import re

import pytest

from db import states
from db.look.overview import warnings
from db.trust import votes
from db.work import deadlines, leases
from jobs.run import limits
from jobs.verify import agreement
from langford.cli.output import how_long
from tests.support.pages import ROOT

MINUTE, HOUR, DAY = 60, 3_600, 86_400


@pytest.mark.parametrize(
    ("page", "promise", "constant", "number"),
    [
        ("docs/design.md", "The third of these sets the task aside", states.FAILURES_BEFORE_SET_ASIDE, 3),
        ("docs/design.md", "After five votes without a decision", votes.MAX_VOTES, 5),
        ("docs/verification.md", "After five votes without a decision", votes.MAX_VOTES, 5),
        ("docs/design.md", "held longest (at least a minute)", leases.COPY_SECONDS, MINUTE),
        ("docs/http.md", "A task that has been held for a minute can be copied", leases.COPY_SECONDS, MINUTE),
        ("docs/http.md", "up to twenty times the expected time of the largest task", deadlines.TIMES_EXPECTED, 20),
        ("docs/http.md", "This limit is never below 15 minutes", deadlines.MIN_LEASE_SECONDS, 15 * MINUTE),
        ("docs/http.md", "15 minutes or above a day", deadlines.MAX_LEASE_SECONDS, DAY),
        ("docs/http.md", "it is an hour if no time is known yet", deadlines.UNKNOWN_SECONDS, HOUR),
        ("docs/http.md", "null if fewer than three of them have", deadlines.MIN_TOKENS, 3),
        ("docs/http.md", "a worker runs at less than 0.6 of the speed of its peers", warnings.SLOW, 0.6),
        ("docs/design.md", "`--patience` plus twenty times its expected time", limits.LIMIT_FACTOR, 20),
        ("docs/verification.md", "within ten standard errors", agreement.MAX_STANDARD_ERRORS, 10),
        (
            "docs/command-line.md",
            "ask before they start more than an hour",
            how_long.SECONDS_WORTH_A_QUESTION,
            HOUR,
        ),
    ],
)
def test_a_number_on_a_page_is_the_one_that_decides(
    page: str, promise: str, constant: float, number: float
) -> None:
    assert constant == number
    assert promise in re.sub(r"\s+", " ", (ROOT / page).read_text())
