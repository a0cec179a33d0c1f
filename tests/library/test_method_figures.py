"""The pictures of docs/methods.md show what the methods compute."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from langford.methods import METHODS
from langford.result import PartialResult

NAMES = (
    "grids",
    "godfrey_figure",
    "polyphase_figure",
    "search_figure",
    "method_figures",
)
grids, godfrey_figure, polyphase_figure, search_figure, method_figures = (
    pytest.importorskip(f"docs.scripts.{name}", reason="needs matplotlib") for name in NAMES
)
PROBLEM = grids.PROBLEM
DOCS = Path(__file__).parents[2] / "docs"


def only_result(method: str, depth: int) -> PartialResult:
    """The result of the one task of L(2,3) at a depth."""
    plan = METHODS[method].plan(PROBLEM, depth)
    [index] = plan.tasks
    return plan.evaluate(index)


def test_the_search_trees_are_those_of_the_methods() -> None:
    first_colour_and_last = 2
    fitting = [node for node in search_figure.miller_tree().all() if node.fits and node.cubes]
    assert len(fitting) - first_colour_and_last == only_result("miller", 1).evaluated
    assert search_figure.tried(search_figure.regular_tree()) - 1 == only_result("regular", 1).evaluated


def test_the_points_are_those_of_godfreys_sum() -> None:
    points = [x for row in godfrey_figure.points() for x in row]
    assert len({tuple(sorted(x.items())) for x in points}) == 2 ** len(PROBLEM.filled)
    assert sum(map(grids.term, points)) == only_result("godfrey", 0).value
    assert sum(grids.term(x) != 0 for x in points) == only_result("godfrey", 0).evaluated
    rows = godfrey_figure.points()
    walk = [x for number, row in enumerate(rows) for x in (row if number % 2 == 0 else row[::-1])]
    for before, after in itertools.pairwise(walk):
        assert sum(before[place] != after[place] for place in before) == 1


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures")
    method_figures.main(folder)
    return folder


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [*method_figures.FIGURES])
def test_the_pictures_are_current(drawn: Path, name: str) -> None:
    def texts(file: Path) -> list[str]:
        return re.findall(r">([^<>]+)</text>", file.read_text())

    shown = texts(DOCS / name)
    assert len(shown) > 8
    assert shown == texts(drawn / name), f"python -m docs.scripts.method_figures docs draws another {name}"
