"""Pictures of arrangements as SVG."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree

import pytest

from langford import drawing

ROW, RING = (2, 3, 1, 2, 1, 3), (0, 2, 1, 1, 2)


@pytest.mark.parametrize(("arrangement", "circle", "kind"), [(ROW, False, "path"), (RING, True, "line")])
def test_an_svg_has_each_cube_and_each_arc(
    tmp_path: Path, arrangement: tuple[int, ...], circle: bool, kind: str
) -> None:
    file = tmp_path / "drawn.svg"
    drawing.save(arrangement, file, circle)
    tree = ElementTree.parse(file)
    space = "{http://www.w3.org/2000/svg}"
    assert [each.text for each in tree.iter(f"{space}text")] == [str(label) for label in arrangement if label]
    drawn = list(tree.iter(f"{space}{kind}"))
    assert len(drawn) == len(drawing.spans(arrangement))
    if circle:
        one, two = (math.sin(math.pi * d / len(arrangement)) for d in (1, 2))
        ends = [[float(str(chord.get(name))) for name in ("x1", "y1", "x2", "y2")] for chord in drawn]
        chords = [math.dist(end[:2], end[2:]) for end in ends]
        assert sorted(chords) == pytest.approx([1, two / one], abs=2e-3)
    _, _, width, height = map(float, str(tree.getroot().get("viewBox")).split())
    for cube in list(tree.iter(f"{space}rect"))[1:]:
        assert 0 <= float(str(cube.get("x"))) <= width - 0.76
        assert 0 <= float(str(cube.get("y"))) <= height - 0.76


def test_an_arc_begins_below_the_end_of_another() -> None:
    lines = drawing.text((4, 2, 0, 2, 4, 2, 0, 0, 4)).plain.splitlines()
    assert lines[2:] == [" │ ┌───┤ ├─┼─────┐", " 4 2 · 2 4 2 · · 4"]
