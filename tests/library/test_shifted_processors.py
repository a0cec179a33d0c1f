"""The shifted kernel compiled for processors without the newest instructions gives the same."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from langford.methods import METHODS
from langford.problem import Problem
from tests.support.command_line import ENVIRONMENT

PROGRAM = """
from langford.methods import METHODS
from langford.problem import Problem
plan = METHODS["shifted"].plan(Problem.langford(12), 4, 3)
print([plan.evaluate(index) for index in plan.tasks])
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(platform.machine() != "x86_64", reason="names of other processors")
@pytest.mark.parametrize("processor", ["x86-64-v3"])
def test_older_processors_agree(processor: str) -> None:
    plan = METHODS["shifted"].plan(Problem.langford(12), 4, 3)
    environment = {**ENVIRONMENT, "NUMBA_CPU_NAME": processor}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str([plan.evaluate(index) for index in plan.tasks])
