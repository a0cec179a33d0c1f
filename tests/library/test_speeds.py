"""The file of measured speeds: complete for every method, and strict."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from msgspec import toml

from langford.errors import MethodDoesNotApply
from langford.methods import METHODS, fastest_method
from langford.methods.speeds import FILE, BadSpeeds, Growth, Speeds, speeds_of, tables
from langford.problem import Problem

ROOT = Path(__file__).parents[2]
GOOD = """
[new]
fastest_from = { cuda = 20 }

[new.pairs]
instant = 9
probe = 10
growth = 8.5

[new.sources]
pairs = ["langford count N", "a core"]
"""


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_its_figures(name: str) -> None:
    method, speeds = METHODS[name], tables()[name]
    assert method.speeds == speeds
    for problem in (Problem.langford(8), Problem.langford(9, 3)):
        if method.refusal(problem) is None:
            start = speeds.forecast(problem.copies)
            assert 0 < start.instant <= start.probe
            assert (start.growth is None) == (method.unit == "points")
    assert set(speeds.fastest_from) <= set(method.evaluators)


def test_the_file_has_no_other_methods() -> None:
    assert list(tables()) == list(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_every_figure_names_a_command_that_exists_and_hardware(name: str) -> None:
    speeds = tables()[name]
    figures = {each for each in ("pairs", "others") if getattr(speeds, each) is not None}
    assert set(speeds.fastest_otherwise) <= set(speeds.fastest_from)
    assert set(speeds.sources) == figures | set(speeds.fastest_from)
    for command, hardware in speeds.sources.values():
        script = re.match(r"python (\S+)", command)
        assert (ROOT / script[1]).is_file() if script else command.startswith("langford ")
        assert len(hardware) > 5


def test_the_file_is_in_the_wheel() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert FILE.name in settings["tool"]["setuptools"]["package-data"]["langford.methods"]


def test_a_method_that_was_the_fastest_somewhere_is_chosen_there() -> None:
    for name in METHODS:
        for kind, first in speeds_of(name).fastest_from.items():
            # With an odd number of even differences only the first version of the shifted sum applies.
            n = first + 1 if METHODS[name].superseded_by else first
            assert fastest_method(Problem.langford(n), kind).name == name
    with pytest.raises(MethodDoesNotApply):
        fastest_method(Problem.langford(8), "abacus")


def test_figures_are_read() -> None:
    speeds = read(GOOD)
    assert speeds.forecast(2) == Growth(9, 10, 8.5)
    assert speeds.fastest_from == {"cuda": 20}
    with pytest.raises(BadSpeeds, match="no times for 3 copies"):
        speeds.forecast(3)
    with pytest.raises(BadSpeeds, match=r"no table \[new\]: add one"):
        speeds_of("new")


def read(text: str) -> Speeds:
    return toml.decode(text, type=dict[str, Speeds])["new"]
