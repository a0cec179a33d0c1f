"""What commands say before they begin a count: how long it takes, what helps, and what is possible instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from jobs.tuning import forecast
from langford.cli.main import cli
from langford.cli.output.outlook import long_duration
from langford.words import YEAR_SECONDS

MINUTES = 50 * 60.0
SHARED = "GPUs make it shorter (--device cuda), and more machines (`langford create`, then `langford serve`)"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def of_a_core(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Have every forecast say this time of one core."""
    monkeypatch.setattr(forecast, "core_seconds", lambda problem, method: seconds)


def test_a_run_says_how_long_as_a_count_does(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_core(monkeypatch, 2 * MINUTES)
    run = call("run", "langford", "24", "--workers", "2", "--time-limit", "0")
    count = call("count", "8", "--cores", "2")
    assert "L(2,24) by shifted2: about 50 min on 2 cores\n" in run.stderr
    assert "L(2,8) by polyphase: about 50 min on 2 cores" in count.stderr
    for said in (run.stderr, count.stderr):
        assert SHARED in said


def test_a_short_run_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_core(monkeypatch, 2.0)
    assert "about" not in call("run", "langford", "8", "--time-limit", "0").stderr


def test_a_campaign_that_is_resumed_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_core(monkeypatch, 2 * MINUTES)
    said = [call("run", "langford", "8", "--time-limit", "0").stderr for _ in range(2)]
    assert ["about" in each for each in said] == [True, False]


def test_a_time_that_no_cluster_has_names_what_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_core(monkeypatch, 6.6e16 * YEAR_SECONDS)
    monkeypatch.setattr("langford.cli.output.outlook.LARGEST_ALTERNATIVE", 16)
    refused = str(call("count", "36", "--cores", "2").exception)
    assert "about 33 quadrillion years on 2 cores" in refused
    assert "no cluster can finish it; `langford estimate 36` approximates it now, and L(2,16) takes " in refused
    assert "use a cluster" not in refused
    assert not re.search(r"\d(,\d{3}){2}", refused), "digits that no one can grasp"


def test_a_time_of_some_core_years_names_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_core(monkeypatch, 100.0 * YEAR_SECONDS)
    refused = str(call("count", "32", "--cores", "2").exception)
    assert "about 50 years on 2 cores (100 core years)" in refused
    assert SHARED in refused


@pytest.mark.parametrize(
    ("years", "words"),
    [
        (50, "50 years"),
        (2.4e6, "2 million years"),
        (7e9, "7 billion years"),
        (1e13, "10 trillion years"),
        (3.3e16, "33 quadrillion years"),
        (1e30, "over 1,000 quadrillion years"),
    ],
)
def test_many_years_are_words(years: float, words: str) -> None:
    assert long_duration(years * YEAR_SECONDS) == words
