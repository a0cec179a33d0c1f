"""The picture of docs/irregular.md: the speed of a breadth-first search on one GPU, and what memory would allow.

A search writes the parent of every vertex (4 bytes), reads and writes a bit for each, and reads a neighbour of each
that it reaches (4 bytes), at least.  The limit is what a copy of as many bytes takes, for 16 edges per vertex.
"""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path

from benchmarks.harness import required

FIGURES = Path(__file__).parents[1] / "figures" / "search-gteps.json"
EDGES_PER_VERTEX, WRITTEN, PER_REACHED = 16, 4.25, 4
"""Bytes for every vertex, and for every reached one."""
OURS, LIMIT = "#4472a8", "#c0504d"


def limit(reached: float, copied: float) -> float:
    """GTEPS that memory allows.

    Args:
        reached: share of the vertices that a search reaches.
        copied: bytes per second that a copy reads and writes.
    """
    return 1e-9 * EDGES_PER_VERTEX * copied / (WRITTEN + PER_REACHED * reached)


def draw(file: Path) -> None:
    """Draw the picture from the figures that are kept."""
    matplotlib, pyplot = required("matplotlib"), required("matplotlib.pyplot")
    matplotlib.use("Agg")
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
