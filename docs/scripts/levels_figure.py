"""Who searches which part of the tree: the levels p, q and r of the thesis, with the numbers of L(2,12)."""

from __future__ import annotations

from itertools import pairwise

from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

import langford

N, P, Q = 12, 2, 6
LEVELS = (
    ("p", "the server", "places the first colours: each way is a task", "#e9c46a"),
    ("q", "a core of the worker", "places more colours: each way is a sub-task", "#8ab17d"),
    ("r", "a thread of the GPU", "searches what is left of its sub-task", "#7ea6d8"),
)


def numbers() -> tuple[int, int]:
    """Tasks of depth p, and sub-tasks of depth p + q: rows with so many colours placed."""
    tasks, sub_tasks = (len(langford.plan(N, "regular", depth).tasks) for depth in (P, P + 2))
    return tasks, sub_tasks


def figure() -> Figure:
    """A triangle in three parts."""
    tasks, sub_tasks = numbers()
    drawn, axis = pyplot.subplots(figsize=(8.6, 3.9), layout="constrained")
    counts = (f"{tasks} tasks", f"{sub_tasks:,} rows two colours deeper, and so on", f"until n = {N} are placed")
    heights = (0, P, Q + P, N)
    for (name, who, what, shade), (top, bottom), count in zip(LEVELS, pairwise(heights), counts, strict=True):
        corners = [(-top, -top), (top, -top), (bottom, -bottom), (-bottom, -bottom)]
        axis.add_patch(Polygon(corners, facecolor=shade, edgecolor="white", linewidth=2))
        middle = -(top + bottom) / 2
        axis.text(0, middle, f"{name} = {bottom - top}", ha="center", va="center", fontsize=12)
        axis.text(N + 1, middle + 0.35, f"{who} {what}", va="center", fontsize=10)
        axis.text(N + 1, middle - 0.65, count, va="center", fontsize=9, color="#555555")
    axis.set(xlim=(-N - 0.5, 3.6 * N), ylim=(-N - 0.5, 0.5))
    axis.axis("off")
    return drawn
