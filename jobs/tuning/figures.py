"""Figures of experiments: seconds against the setting that was varied, one line per curve."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from jobs.tuning.experiment import Experiment
from langford.durable import replace_file
from langford.errors import NotInstalled
from langford.version import install


def save(experiment: Experiment, path: Path) -> None:
    """Draw an experiment into a file, whose suffix chooses the format.

    Raises NotInstalled without matplotlib, NotReplaceable or OSError.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NotInstalled(f"figures need matplotlib: {install('draw')}") from error
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for curve in experiment.curves:
        trials = sorted(curve.trials, key=lambda trial: trial.x)
        axes.plot([trial.x for trial in trials], [trial.seconds for trial in trials], marker="o", label=curve.label)
    best = experiment.best
    axes.plot(
        [best.x],
        [best.seconds],
        label=f"fastest: {best.seconds:.3g} s",
        linestyle="none",
        color="black",
        marker="o",
        markersize=12,
        fillstyle="none",
    )
    axes.set_title(experiment.title)
    axes.set_xlabel(experiment.x_label)
    axes.set_ylabel("time of the whole count [s]")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    content = BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):  # text stays text, not outlines
        figure.savefig(content, format=path.suffix[1:], dpi=120)
    replace_file(path, content.getvalue())
