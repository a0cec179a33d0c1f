"""Pictures: of any table, and that of docs/irregular.md, the speed of a breadth-first search on one GPU.

The latter shows what memory would allow.  A search writes the parent of every vertex (4 bytes), reads and writes a
bit for each, and reads a neighbour of each that it reaches (4 bytes), at least.  The limit is what a copy of as
many bytes takes, for 16 edges per vertex.
"""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import Any

from benchmarks.harness import Table, required

FIGURES = Path(__file__).parents[1] / "figures" / "search-gteps.json"
EDGES_PER_VERTEX, WRITTEN, PER_REACHED = 16, 4.25, 4
"""Bytes for every vertex, and for every reached one."""
OURS, LIMIT = "#4472a8", "#c0504d"
WIDE = 1000
"""Bars whose lengths differ by more have a logarithmic axis."""


def limit(reached: float, copied: float) -> float:
    """GTEPS that memory allows.

    Args:
        reached: share of the vertices that a search reaches.
        copied: bytes per second that a copy reads and writes.
    """
    return 1e-9 * EDGES_PER_VERTEX * copied / (WRITTEN + PER_REACHED * reached)


def draw_table(table: Table, file: Path) -> None:
    """Draw bars: a panel for each column with numbers, and in it a bar for each row, named by the other columns."""
    pyplot = _pyplot()
    columns = list(zip(*table.rows, strict=True))
    by_type = [
        [at for at, column in enumerate(columns) if at and any(isinstance(cell, kind) for cell in column)]
        for kind in (float, int)
    ]
    measured = by_type[0] or by_type[1]
    names = [
        ", ".join(str(cell) for at, cell in enumerate(row) if at not in measured and cell not in ("", None))
        for row in table.rows
    ]
    size = 2.5 + 2.2 * len(measured), 1.0 + 0.24 * len(table.rows)
    figure, axes = pyplot.subplots(1, len(measured), figsize=size, sharey=True, squeeze=False, layout="constrained")
    for axis, at in zip(axes[0], measured, strict=True):
        numbers = [cell if isinstance(cell, int | float) else 0.0 for cell in columns[at]]
        axis.barh(range(len(numbers)), numbers, color=OURS)
        positive = [number for number in numbers if number > 0]
        if positive and max(positive) > WIDE * min(positive):
            axis.set_xscale("log")
        else:
            axis.locator_params(axis="x", nbins=3)
        axis.set_title(table.headings[at], fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_yticks(range(len(names)), names)
    axes[0][0].invert_yaxis()
    figure.savefig(file, dpi=110)
    pyplot.close(figure)


def _pyplot() -> Any:
    required("matplotlib").use("Agg")
    return required("matplotlib.pyplot")


def draw(file: Path) -> None:
    """Draw the picture from the figures that are kept."""
    pyplot = _pyplot()
    matplotlib = required("matplotlib")
    figures = json.loads(FIGURES.read_text())
    scales = sorted(map(int, figures["gteps"]))
    speeds = [figures["gteps"][str(scale)] for scale in scales]
    launches = [figures.get("gteps_of_launch", {}).get(str(scale), float("nan")) for scale in scales]
    limits = [limit(figures["reached"][str(scale)], figures["copy"][str(scale)]) for scale in scales]
    matplotlib.rcParams.update({"svg.hashsalt": "gteps", "font.family": "DejaVu Sans", "font.size": 9})
    figure, axis = pyplot.subplots(figsize=(6.4, 3.4), layout="constrained")
    axis.plot(scales, limits, "--", color=LIMIT)
    axis.plot(scales, speeds, "o-", color=OURS)
    axis.plot(scales, launches, "o:", color=OURS, markerfacecolor="white")
    for row, above in ((speeds, -15), (launches, 7)):
        for scale, speed in zip(scales, row, strict=True):
            if isfinite(speed):
                axis.annotate(
                    f"{speed:.0f}", (scale, speed), (0, above), textcoords="offset points", ha="center", color=OURS
                )
    axis.annotate(
        "limit of the memory: a copy of the bytes that must move", (scales[0], limits[0]), (0, -14),
        textcoords="offset points", color=LIMIT,
    )  # fmt: skip
    axis.annotate(
        "searches, one launch each" + "; dotted: launches alone" * any(map(isfinite, launches)),
        (scales[-1], speeds[-1]), (0, -38), textcoords="offset points", ha="right", color=OURS,
    )  # fmt: skip
    axis.set(
        xlabel="scale: 2^scale vertices, 16 edges per vertex", ylabel="billion edges per second", yscale="log",
        ylim=(10, 20_000), xticks=scales,
    )  # fmt: skip
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color="#dddddd", linewidth=0.6)
    metadata = {"Date": None} if file.suffix == ".svg" else {}
    figure.savefig(file, metadata=metadata, dpi=110)
