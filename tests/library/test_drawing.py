"""Pictures of arrangements as SVG, which needs no library."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from langford import drawing
from langford.errors import NotInstalled

ROW, RING = (2, 3, 1, 2, 1, 3), (0, 2, 1, 1, 2)


@pytest.fixture
def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(drawing, "find_spec", lambda name: None)


@pytest.mark.parametrize(("arrangement", "circle", "kind"), [(ROW, False, "path"), (RING, True, "line")])
def test_an_svg_has_each_cube_and_each_arc(
    without_matplotlib: None, tmp_path: Path, arrangement: tuple[int, ...], circle: bool, kind: str
) -> None:
    file = tmp_path / "drawn.svg"
    drawing.save(arrangement, file, circle)
    tree = ElementTree.parse(file)
    space = "{http://www.w3.org/2000/svg}"
    assert [each.text for each in tree.iter(f"{space}text")] == [str(label) for label in arrangement if label]
    assert len(list(tree.iter(f"{space}{kind}"))) == len(drawing.spans(arrangement))
    _, _, width, height = map(float, str(tree.getroot().get("viewBox")).split())
    for cube in list(tree.iter(f"{space}rect"))[1:]:
        assert 0 <= float(str(cube.get("x"))) <= width - 0.76
        assert 0 <= float(str(cube.get("y"))) <= height - 0.76


def test_an_arc_begins_below_the_end_of_another() -> None:
    lines = drawing.text((4, 2, 0, 2, 4, 2, 0, 0, 4)).plain.splitlines()
    assert lines[2:] == [" │ ┌───┤ ├─┼─────┐", " 4 2 · 2 4 2 · · 4"]


def test_other_pictures_name_what_needs_nothing(without_matplotlib: None, tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match=r"or write an \.svg, which needs nothing"):
        drawing.save(ROW, tmp_path / "drawn.png")
