"""Pictures of an arrangement: coloured cubes with an arc over each colour's neighbours, on a circle with chords."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from colorsys import hsv_to_rgb
from itertools import pairwise
from pathlib import Path

from rich.text import Text

from langford.errors import BadInput
from langford.machine.durable import replace_file
from langford.machine.outputs import mark, marked, require_replaceable
from langford.methods.backtracking.explicit import Arrangement
from langford.problem.recognition import places_of

LINES, ASCII_LINES = "┌─┐│┼├┤·", ".-.|+++."
"""Characters of arcs (left end, along, right end, down from an end, crossing, left and right end below the end of
another arc), and of an empty place."""
TALLEST = 5
"""Height of the tallest bar, in places."""
UNIT = 30
"""Pixels of a place in an SVG."""
MARGIN = 0.8
"""From the middle of an outer cube to the edge of a picture, in places."""
PICTURE = marked("a picture", "draw")


def spans(arrangement: Arrangement) -> list[tuple[int, int, int]]:
    """(label, from place, to place) of consecutive equal cubes, places counted from 0, in the order of the last."""
    pairs = ((name, *pair) for name, places in places_of(arrangement).items() for pair in pairwise(places))
    return sorted(((name, start - 1, end - 1) for name, start, end in pairs), key=lambda span: span[2])


def colour(name: int) -> tuple[float, float, float]:
    """An RGB colour for a label, spread over the hues by the golden ratio."""
    return hsv_to_rgb(name * 0.618034 % 1.0, 0.55 + 0.25 * (name % 2), 0.95)


def text(arrangement: Arrangement, width: int | None = None, lines: str = LINES) -> Text:
    """Arcs over coloured cubes, for a terminal; a drawing wider than ``width`` is continued below."""
    cell = len(str(max(arrangement))) + 1
    parts = 1 if width is None else math.ceil(len(arrangement) / max(width // cell, 1))
    places = math.ceil(len(arrangement) / parts)
    arcs = _arcs(arrangement, cell, lines)
    cubes = [(str(name or lines[-1]).rjust(cell - 1), name) for name in arrangement]
    picture = Text()
    for first in range(0, len(arrangement), places):
        if first:
            picture.append("\n\n")
        part = slice(first, first + places)
        for line in arcs:
            if any(name for _, name in line[part]):
                for piece, name in line[part]:
                    picture.append(piece, style=_hex(name) if name else "")
                picture.append("\n")
        for cube, name in cubes[part]:
            picture.append(" ")
            picture.append(cube, style=f"bold black on {_hex(name)}" if name else "dim")
    return picture


def _arcs(arrangement: Arrangement, cell: int, lines: str) -> list[list[tuple[str, int]]]:
    """From the top down: for each place a piece of text of one cell, and its label or 0."""
    left, along, right, down, crossing, left_below, right_below, _ = tuple(lines)
    rows: list[list[tuple[int, int, int]]] = []
    for span in sorted(spans(arrangement), key=lambda span: span[2] - span[1]):
        for row in rows:
            if all(span[2] < other[1] or span[1] > other[2] for other in row):
                row.append(span)
                break
        else:
            rows.append([span])
    below: dict[int, int] = {}
    drawn = []
    for row in rows[::-1]:
        line = [(" " * cell, 0)] * len(arrangement)
        for place, name in below.items():
            line[place] = (down.rjust(cell), name)
        for name, start, end in row:
            line[start] = ((left_below if start in below else left).rjust(cell), name)
            line[end] = ((right_below if end in below else right).rjust(cell, along), name)
            for place in range(start + 1, end):
                line[place] = (along * cell, name) if place not in below else (crossing.rjust(cell, along), name)
            below[start] = below[end] = name
        drawn.append(line)
    return drawn


def _placed(arrangement: Arrangement, circle: bool) -> tuple[list[tuple[float, float]], float, float]:
    """The middles of the cubes (across, up), and the width and height of the picture, all in places."""
    length = len(arrangement)
    if circle:
        radius = 0.5 / math.sin(math.pi / max(length, 2))
        middle = radius + MARGIN
        turns = (math.tau * place / length for place in range(length))
        middles = [(middle + radius * math.sin(turn), middle + radius * math.cos(turn)) for turn in turns]
        return middles, 2 * middle, 2 * middle
    tallest = max((end - start for _, start, end in spans(arrangement)), default=1) / 2
    return [(place + MARGIN, MARGIN) for place in range(length)], length - 1 + 2 * MARGIN, tallest + 1 + MARGIN


def svg(arrangement: Arrangement, circle: bool = False) -> str:
    """Arcs over cubes in a row, or chords between those on a circle, as SVG."""
    upwards, width, height = _placed(arrangement, circle)
    middles = [(across, height - up) for across, up in upwards]
    lines = []
    if circle:
        middle = width / 2
        lines = [f'<circle cx="{middle:.3f}" cy="{middle:.3f}" r="{middle - MARGIN:.3f}" stroke="lightgrey"/>']
    for name, start, end in spans(arrangement):
        (from_x, from_y), (to_x, to_y), size = middles[start], middles[end], end - start
        line = f'line x1="{from_x:.3f}" y1="{from_y:.3f}" x2="{to_x:.3f}" y2="{to_y:.3f}"'
        if not circle:
            line = f'path d="M {from_x:.3f} {from_y - 0.5:.3f} a {size / 2} {size / 2} 0 0 1 {size} 0"'
        lines.append(f'<{line} stroke="{_hex(name)}" stroke-width="0.07"/>')
    cubes = [
        f'<rect x="{across - 0.38:.3f}" y="{down - 0.38:.3f}" width="0.76" height="0.76" rx="0.12" '
        f'fill="{_hex(name) if name else "white"}" stroke="{"black" if name else "lightgrey"}"/>'
        + (f'<text x="{across:.3f}" y="{down + 0.15:.3f}">{name}</text>' if name else "")
        for (across, down), name in zip(middles, arrangement, strict=True)
    ]
    title = ",".join(map(str, arrangement))
    return _svg(title, width, height, ['<g fill="none" stroke-width="0.03">', *lines, "</g>"], cubes)


def _svg(title: str, width: float, height: float, below: Sequence[str], labelled: Sequence[str]) -> str:
    """``below``: what lies under the parts with labels."""
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{UNIT * width:.0f}" height="{UNIT * height:.0f}" '
            f'viewBox="0 0 {width:.3f} {height:.3f}">',
            f"<metadata>{mark('draw')}</metadata>",
            f"<title>{title}</title>",
            '<rect width="100%" height="100%" fill="white"/>',
            *below,
            '<g stroke-width="0.03" font-family="sans-serif" font-size="0.36" text-anchor="middle">',
            "<style>text { fill: black; stroke: none }</style>",
            *labelled,
            "</g>",
            "</svg>",
            "",
        ]
    )


def bars(title: str, label: int, numbers: Mapping[int, int]) -> str:
    """The numbers of some places as bars above them, in the colour of a label, as SVG."""
    unit, base = TALLEST / max(1, *numbers.values()), TALLEST + MARGIN
    columns = [
        f'<rect x="{across + MARGIN - 0.88:.3f}" y="{base - unit * number:.3f}" width="0.76" '
        f'height="{unit * number:.3f}" fill="{_hex(label)}" stroke="black"><title>{number:,}</title></rect>'
        f'<text x="{across + MARGIN - 0.5:.3f}" y="{base + 0.45:.3f}">{place}</text>'
        for across, (place, number) in enumerate(numbers.items(), 1)
    ]
    return _svg(title, len(numbers) + 2 * MARGIN, base + MARGIN, (), columns)


def require_drawable(path: Path) -> None:
    """Raises the errors of :func:`save` before a long search: BadInput, NotReplaceable or OSError."""
    if path.suffix.lower() != ".svg":
        raise BadInput(f"{path.name}: end the file name in .svg")
    require_replaceable(path, PICTURE)


def save(arrangement: Arrangement, path: Path, circle: bool = False) -> None:
    """Write the picture as SVG; raises as :func:`require_drawable`."""
    require_drawable(path)
    replace_file(path, svg(arrangement, circle).encode(), PICTURE)


def _hex(name: int) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour(name))
