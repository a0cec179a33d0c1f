"""All experiments of one method on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from jobs.console import Console
from jobs.tuning.experiment import NOISE, Experiment, Stopwatch, on_cores
from jobs.tuning.gpu import Bench, GodfreyBench, godfrey_on_gpu, search_on_gpu
from langford.devices import CPU, Cuda, Host
from langford.errors import NotInstalled
from langford.kernels.gpu.runtime import NoGpu
from langford.machine.cores import cores
from langford.machine.durable import replace_file
from langford.machine.outputs import mark, marked
from langford.methods import Method
from langford.methods.backtracking.cuda import SearchSettings
from langford.methods.godfrey.cuda import GodfreyLaunch
from langford.methods.speed import expected_seconds
from langford.problem import Problem
from langford.version import install

FIGURE = marked("a figure", "tune")
CORE_SECONDS = 10.0
"""The cost limit of each count on the cores, in seconds of one core."""


def experiments(
    problem: Problem, method: Method, repetitions: int, console: Console, device: Cuda | Host
) -> Iterator[tuple[str, Experiment]]:
    """Yield (device, experiment): those on the cores, then those with the kernels of the GPU, if it is there.

    On the cores a smaller problem is counted if this one would take long there.

    Args:
        problem: to be counted.
        method: whose settings are tried.
        repetitions: of each count.
        console: gets the progress.
        device: runs the kernels of the GPU.

    Raises CheckFailed when two counts differ, or NoCompiler.
    """
    watch = Stopwatch(repetitions, console)
    smaller = for_cores(problem, method)
    for experiment in on_cores(smaller, method, cores(), watch if smaller == problem else watch.afresh()):
        yield CPU.kind, experiment
    try:
        _ = device.model
    except NoGpu as error:
        console.say(f"the experiments on a GPU are left out: {error}")
        return
    compiler, emulated = device.compiler, isinstance(device, Host)

    def labelled(experiment: Experiment) -> tuple[str, Experiment]:
        if not emulated:
            return device.kind, experiment
        return "host", replace(experiment, title=f"{experiment.title}, emulated on this processor")

    if method.name == "godfrey":
        sums = GodfreyBench(problem, compiler, cores(), GodfreyLaunch(), watch)
        yield from map(labelled, godfrey_on_gpu(sums))
    else:
        bench = Bench(problem, method.name, compiler, cores(), SearchSettings(), watch)
        yield from map(labelled, search_on_gpu(bench))


def for_cores(problem: Problem, method: Method) -> Problem:
    """The problem, or a smaller one of the same kind that one core counts in about :data:`CORE_SECONDS`."""
    n = problem.n
    while n > 1 and expected_seconds([(problem, method)], [CPU])[problem] > CORE_SECONDS:
        n -= 1
        problem = problem.resized(n)
    return problem


def draw(experiment: Experiment, path: Path) -> None:
    """Draw an experiment into a file.

    Args:
        experiment: a finished one.
        path: of the file, whose suffix chooses the format.

    Raises NotInstalled without matplotlib, NotReplaceable or OSError.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError as error:
        raise NotInstalled(f"figures need matplotlib: {install('report')}") from error
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for label, trials in experiment.curves.items():
        points = sorted((trial.x, trial.seconds) for trial in trials)
        axes.plot(*zip(*points, strict=True), marker="o", label=label)
    best = experiment.best
    ring: dict[str, Any] = {
        "linestyle": "none",
        "color": "black",
        "marker": "o",
        "markersize": 12,
        "fillstyle": "none",
    }
    axes.plot([best.x], [best.seconds], label=f"fastest, within {NOISE:.0%}: {best.seconds:.3g} s", **ring)
    axes.set_title(experiment.title)
    axes.set_xlabel(experiment.x_label)
    if all(float(trial.x).is_integer() for trial in experiment.trials):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("time of the whole count [s]")
    axes.set_ylim(0, 1.05 * max(trial.seconds for trial in experiment.trials))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    content = BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):  # text stays text, not outlines
        figure.savefig(content, format=path.suffix[1:], dpi=120, metadata={"Creator": mark("tune")})
    replace_file(path, content.getvalue(), FIGURE)
