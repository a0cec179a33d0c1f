"""The file of measured speeds: complete for every method, and strict."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from langford.errors import MethodDoesNotApply
from langford.methods import METHODS, candidates
from langford.methods.speeds import FILE, BadSpeeds, Forecast, measured, read, speeds_of
from langford.problem import Problem

ROOT = Path(__file__).parents[2]
TABLES = tomllib.loads(FILE.read_text())
GOOD = """
[new.pairs]
instant = 9
probe = 10
growth = 8.5
command = "langford count N"
hardware = "a core"

[new.probe_depth]
depth = 12
command = "langford run 20"
hardware = "a core"

[new.fastest_from.cuda]
n = 20
command = "langford tune choice 20"
hardware = "a GPU"
"""


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_its_figures(name: str) -> None:
    method, speeds = METHODS[name], measured()[name]
    assert method.speeds == speeds
    for problem in (Problem.langford(8), Problem.langford(9, 3)):
        if method.refusal(problem) is None:
            start = speeds.forecast(problem.copies)
            assert 0 < start.instant <= start.probe
            assert (start.growth is None) == (method.unit == "points")
    assert (speeds.probe_depth is None) == (method.unit == "nodes")
    if speeds.probe_depth is not None:
        assert speeds.probe_depth in method.depths(Problem.langford(32))
    assert set(speeds.fastest_from) <= set(method.evaluators)


def test_the_file_has_no_other_methods() -> None:
    assert list(measured()) == list(METHODS)


def test_every_figure_names_a_command_that_exists_and_hardware() -> None:
    def sources(table: dict[str, Any]) -> list[tuple[str, str]]:
        if "command" in table:
            return [(table["command"], table["hardware"])]
        return [source for inner in table.values() for source in sources(inner)]

    found = sources(TABLES)
    assert len(found) >= 2 * len(METHODS)
    for command, hardware in found:
        script = re.match(r"python (\S+)", command)
        assert (ROOT / script[1]).is_file() if script else command.startswith("langford ")
        assert len(hardware) > 5


def test_the_file_is_in_the_wheel() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert FILE.name in settings["tool"]["setuptools"]["package-data"]["langford.methods"]


def test_a_method_that_was_the_fastest_somewhere_is_a_candidate_there() -> None:
    for name in METHODS:
        for kind, first in speeds_of(name).fastest_from.items():
            # With an odd number of even differences only the first version of the shifted sum applies.
            n = first + 1 if METHODS[name].superseded_by else first
            assert name in [method.name for method in candidates(Problem.langford(n), kind)]
    with pytest.raises(MethodDoesNotApply):
        candidates(Problem.langford(8), "abacus")


def test_figures_are_read() -> None:
    speeds = read(GOOD)["new"]
    assert speeds.forecast(2) == Forecast(9, 10, 8.5)
    assert (speeds.probe_depth, speeds.fastest_from) == (12, {"cuda": 20})
    with pytest.raises(BadSpeeds, match="no forecast for 3 copies"):
        speeds.forecast(3)
    with pytest.raises(BadSpeeds, match=r"no table \[new\]: add one"):
        speeds_of("new")


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("[new.pairs]", "[new.pears]", r"\[new\]: unknown key 'pears'"),
        ("probe = 10", "prob = 10", r"\[new.pairs\]: unknown key 'prob'"),
        ("fastest_from.cuda", "fastest_from.gpu", r"\[new.fastest_from\]: unknown key 'gpu'; it takes cpu, cuda"),
        ("probe = 10\n", "", r"\[new.pairs\]: 'probe' is missing"),
        ('hardware = "a core"\n', "", r"\[new.pairs\]: 'hardware' is missing"),
        ("probe = 10", "probe = '10'", r"\[new.pairs\]: 'probe' is '10'"),
        ("instant = 9", "instant = -9", r"\[new.pairs\]: 'instant' is -9"),
        ('hardware = "a GPU"', 'hardware = ""', r"\[new.fastest_from.cuda\]: 'hardware' is ''"),
        ("[new.pairs]", "[new]\nothers = 3\n[new.pairs]", r"new.others is 3; write a table"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(right: str, wrong: str, message: str) -> None:
    assert right in GOOD
    with pytest.raises(BadSpeeds, match=message):
        read(GOOD.replace(right, wrong))
