"""The commands that messages advise are commands, and about the same problem."""

from __future__ import annotations

import re
import shlex

import pytest
from click.testing import CliRunner

from langford.cli.main import cli
from langford.cost import MAX_SECONDS
from langford.problem import Problem
from tests.support.forecasts import of_a_core

PROBLEMS = [
    Problem.langford(7),
    Problem.langford(9, 3),
    Problem.skolem(5),
    Problem.named("hooked-langford", 5),
    Problem.from_differences([2, 3], 7, [2, 6, 7]),
    Problem.from_differences(range(2, 11), copies=3),
]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_a_count_that_is_too_long_advises_an_estimate_of_its_problem(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_a_core(monkeypatch, 1e6 * MAX_SECONDS)
    refused = CliRunner().invoke(cli, ["count", *problem.arguments, "--method", "miller"])
    [advised] = re.findall("`langford (estimate [^`]+)`", str(refused.exception))
    estimated = CliRunner().invoke(cli, [*shlex.split(advised), "--walks", "10"])
    assert estimated.exit_code == 0, estimated.output
    assert str(problem) in estimated.stdout
