"""What the pictures of the methods share: the problem L(2,3), and grids of numbers."""

from __future__ import annotations

from math import prod

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from langford.problem import Problem

PROBLEM = Problem.langford(3)
PLACES = range(1, PROBLEM.places + 1)
NEGATIVE, POSITIVE, MARK = "#c0504d", "#4472a8", "#e9a23b"
Signs = dict[int, int]
"""The sign of each place, 1 or −1."""


def starts(difference: int) -> range:
    """Places of the first cube of a colour on the empty row."""
    return range(1, PROBLEM.places - difference + 1)


def term(x: Signs) -> int:
    """What a point adds to Godfrey's sum."""
    return prod(x.values()) * prod(
        sum(x[place] * x[place + difference] for place in starts(difference)) for difference in PROBLEM.differences
    )


def cell(axis: Axes, column: int, row: int, value: int, largest: int, faint: bool = False) -> None:
    """A cell of a grid with a value."""
    strength = (0.15 + 0.7 * abs(value) / largest) * (0.25 if faint else 1)
    shade = (NEGATIVE if value < 0 else POSITIVE, strength) if value else "#ffffff"
    axis.add_patch(Rectangle((column, row), 1, 1, facecolor=shade, edgecolor="#bbbbbb", linewidth=0.6))
    ink = "#bbbbbb" if not value or faint else "white" if strength > 0.6 else "black"
    axis.text(column + 0.5, row + 0.5, str(value).replace("-", "−"), ha="center", va="center", color=ink)


def labels(axis: Axes, rows: list[str], columns: list[str], down: str, across: str) -> None:
    """Labels around a grid."""
    axis.set(xlim=(0, len(columns)), ylim=(len(rows), 0), aspect="equal", xlabel=across, ylabel=down)
    axis.set_xticks([k + 0.5 for k in range(len(columns))], columns)
    axis.set_yticks([k + 0.5 for k in range(len(rows))], rows)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
