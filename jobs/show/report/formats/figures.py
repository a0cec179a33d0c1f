"""The figures of a report.

This module needs matplotlib.  Texts are drawn as they are: nothing in them is a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from jobs.show.report.gathering import Evidence
from langford.words import number

DAY = 86_400.0

matplotlib.rcParams["text.parse_math"] = False


@dataclass(frozen=True)
class Palette:
    """Colours as #rrggbb."""

    ink: str
    faint: str
    # first, second: what is shown
    first: str
    second: str
    ground: str = ""  # behind everything; empty where the page shows through


PAPER = Palette("#1b1f24", "#d5dae0", "#1f6fb5", "#b45309", ground="#ffffff")
"""For files: on white."""
PAGE = Palette("#0a0b01", "#0a0b02", "#0a0b03", "#0a0b04")
"""For pages of HTML: each stands for a variable of the page's style, see :func:`with_variables`."""


def with_variables(svg: str) -> str:
    """A picture drawn in the colours of PAGE, with the variables --ink, --faint, --first, … in their place."""
    for field in fields(PAGE):
        if field.name != "ground":
            svg = svg.replace(getattr(PAGE, field.name), f"var(--{field.name})")
    return svg


@dataclass(frozen=True)
class Format:
    """The size of a figure in inches, and of its text in points."""

    width: float
    tall: float
    font: float


WIDE, NARROW = Format(7.4, 3.0, 9.0), Format(3.6, 2.9, 8.5)


def draw(name: str, evidence: Evidence, palette: Palette, size: Format = WIDE) -> Figure:
    """``name``: one of Evidence.figures."""
    with matplotlib.rc_context(_style(palette, size)):
        figure = Figure(figsize=(size.width, size.tall), layout="constrained", frameon=bool(palette.ground))
        DRAWN[name](figure, evidence, palette, size)
        return figure


def _style(palette: Palette, size: Format) -> dict[Any, Any]:
    inked = ("axes.edgecolor", "axes.labelcolor", "legend.labelcolor", "xtick.color", "ytick.color")
    return {
        **dict.fromkeys(inked, palette.ink),
        "axes.axisbelow": True,
        "axes.facecolor": "none",
        "axes.grid": True,
        # As matplotlib has them: a user's settings may hide them.
        "axes.grid.axis": "both",
        "axes.grid.which": "major",
        "axes.spines.bottom": True,
        "axes.spines.left": True,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "figure.facecolor": palette.ground or "none",
        "font.size": size.font,
        "grid.color": palette.faint,
        "grid.linewidth": 0.6,
        "legend.borderaxespad": 0.1,
        "legend.frameon": False,
        "xtick.labelcolor": "inherit",
        "ytick.labelcolor": "inherit",
    }


def _legend(axes: Axes, size: Format, *others: Axes) -> None:
    handles = [handle for drawn in (axes, *others) for handle in drawn.get_legend_handles_labels()[0]]
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=2 if size is NARROW else 4)


def time_axis(axes: Axes, size: Format) -> None:
    """Times are days since 1970."""
    # With fewer ticks there are spans, as of 2 min, for which matplotlib knows no distance between them, and warns.
    locator = AutoDateLocator(minticks=3, maxticks=7 if size is NARROW else 9)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    whole = ["", "%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%d", "%Y-%m-%d %H:%M"]
    dates = ConciseDateFormatter(locator, offset_formats=whole)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(dates)
    # The date of the axis is below its right end.
    axes.set_xlabel("time (UTC)", loc="left" if size is NARROW else "center")


def _plain_numbers(axes: Axes) -> None:
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, place: number(float(f"{value:.6g}"))))
    axes.set_ylim(bottom=0)


def _steps(axes: Axes, edges: NDArray[np.float64], heights: NDArray[np.float64], colour: str, label: str) -> None:
    axes.stairs(heights, edges / DAY, fill=True, color=colour, alpha=0.35, linewidth=0)
    axes.stairs(heights, edges / DAY, color=colour, linewidth=1.1, label=label)


def _occupancy(figure: Figure, evidence: Evidence, palette: Palette, size: Format) -> None:
    shown, mean = evidence.numbers.devices, evidence.numbers.occupancy
    assert shown is not None
    axes = figure.add_subplot()
    _steps(axes, shown.edges, shown.devices, palette.first, "devices that computed")
    # Workers of one device each would only hide the devices.
    if np.abs(shown.workers - shown.devices).max() > 0.1 * shown.devices.max(initial=0.0):
        axes.stairs(
            shown.workers, shown.edges / DAY, color=palette.second, linewidth=1.1, label="workers with tasks"
        )
    if mean is not None:
        axes.axhline(mean, color=palette.ink, linewidth=0.9, linestyle=(0, (4, 3)), label=f"mean {number(mean)}")
    axes.set_ylabel("at once")
    _plain_numbers(axes)
    time_axis(axes, size)
    _legend(axes, size)


def _throughput(figure: Figure, evidence: Evidence, palette: Palette, size: Format) -> None:
    shown = evidence.numbers.throughput
    assert shown is not None
    axes = figure.add_subplot()
    unit, factor = ("minute", 60.0) if shown.tasks.max() * 60 >= 1 else ("hour", 3600.0)
    _steps(axes, shown.edges, factor * shown.tasks, palette.first, f"tasks per {unit}")
    axes.set_ylabel(f"tasks per {unit}")
    _plain_numbers(axes)
    time_axis(axes, size)
    done = axes.twinx()
    done.grid(visible=False)
    done.spines["right"].set_visible(True)
    done.plot(
        shown.edges / DAY, np.concatenate([[0.0], 100 * shown.share]), color=palette.second, label="work done"
    )
    done.set_ylim(0, 102)
    done.set_ylabel("work done [%]")
    _legend(axes, size, done)


def _task_times(figure: Figure, evidence: Evidence, palette: Palette, size: Format) -> None:
    found, tasks = evidence.numbers.times, evidence.numbers.tasks
    assert found is not None
    axes = figure.add_subplot()
    apart = -(-tasks // len(found.shortest))
    label = "one task" if apart == 1 else f"shortest to longest of {apart:,} tasks"
    # With an edge, for the ranges of one task.
    axes.stairs(
        found.longest,
        found.edges - 0.5,
        baseline=found.shortest,
        fill=True,
        facecolor=palette.first,
        edgecolor=palette.first,
        linewidth=1.1,
        label=label,
    )
    axes.axhline(
        found.mean, color=palette.ink, linewidth=0.9, linestyle=(0, (4, 3)), label=f"mean {number(found.mean)} s"
    )
    axes.set_xlabel("index of the task")
    axes.set_ylabel("computing time [s]")
    axes.set_xlim(-0.5, tasks - 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(4 if size is NARROW else 7, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:,.0f}"))
    _plain_numbers(axes)
    _legend(axes, size)


Draw = Callable[[Figure, Evidence, Palette, Format], None]
DRAWN: Mapping[str, Draw] = {
    "occupancy": _occupancy,
    "throughput": _throughput,
    "task-times": _task_times,
}
