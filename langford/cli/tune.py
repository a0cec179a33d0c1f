"""``langford tune``: the experiments that choose this machine's settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from langford.cli.options import json_option
from langford.devices import cores
from langford.problem import Problem
from langford.profile import save_settings
from langford.variants import VARIANTS

CORE_SECONDS = 10.0


@click.command(
    epilog="""\b
Examples:
  langford tune miller --n 15
  langford tune godfrey --n 20 --out figures
  langford tune regular --n 14 --json --no-save"""
)
@click.argument("method", type=click.Choice(["miller", "regular", "godfrey"]))
@click.option("--n", "colours", type=int, required=True, help="Colours of the problem that is counted each time.")
@click.option("--variant", type=click.Choice(list(VARIANTS)), default="langford", show_default=True)
@click.option("--copies", "-s", type=int, default=2, show_default=True, help="Cubes of each colour.")
@click.option("--repeat", type=click.IntRange(min=1), default=3, show_default=True, help="Counts per setting.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Draw them into this folder.")
@click.option("--save/--no-save", default=True, help="Keep the best as this machine's settings (default: keep).")
@json_option
def tune(
    method: str, colours: int, variant: str, copies: int, repeat: int, out: Path | None, save: bool, as_json: bool
) -> None:
    """Count one problem with many settings, and keep the fastest.

    On the processor, with a smaller problem where N takes it long: the depth of tasks, and how cores
    scale.  On a GPU also: colours per lane, threads and blocks, scheduling, streams, cores that feed and
    compute.  `run`, `count` and `work` use what is kept; LANGFORD_PROFILE names the file.
    """
    problem = Problem.named(variant, colours, copies)
    from jobs.tuning import Stopwatch
    from langford.cli import display, figures
    from langford.methods import find_method

    way = find_method(method, problem)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    documents = []
    for device, experiment in _experiments(problem, way, Stopwatch(repeat, display.say), save):
        documents.append({"device": device, **experiment.document()})
        if not as_json:
            _print(device, experiment)
        if out is not None:
            figures.save(experiment, out / f"{method}-{device}-{experiment.name}.svg")
    if as_json:
        display.print_json(documents)


def _experiments(problem: Problem, method: Any, watch: Any, save: bool) -> Iterator[tuple[str, Any]]:
    """(device, experiment): the processor's, then those of GPU 0, whose best settings are kept."""
    from jobs.tuning import on_cores
    from langford.cli import display
    from langford.kernels.cuda.runtime import NoGpu, device_name

    smaller = _for_cores(problem, method)
    for experiment in on_cores(smaller, method, cores(), watch if smaller == problem else watch.afresh()):
        yield "cpu", experiment
    try:
        name = device_name(0)
    except NoGpu as error:
        display.say(f"the experiments on a GPU are left out: {error}")
        return
    from jobs.tuning.godfrey import GodfreyBench, godfrey_on_gpu
    from jobs.tuning.search import Bench, search_on_gpu
    from langford.kernels.cuda.runtime import CudaProgram
    from langford.methods.backtracking.cuda import Settings
    from langford.methods.godfrey.cuda import Launch

    compiler = partial(CudaProgram, 0)
    if method.name == "godfrey":
        sums = GodfreyBench(problem, compiler, cores(), Launch(), watch)
        yield from (("cuda", experiment) for experiment in godfrey_on_gpu(sums))
        best = asdict(sums.launch)
    else:
        bench = Bench(problem, method.name, compiler, cores(), Settings(), watch)
        yield from (("cuda", experiment) for experiment in search_on_gpu(bench))
        # How many colours a lane places is for each problem to say.
        best = {name: value for name, value in asdict(bench.settings).items() if name != "lane_colours"}
    if save:
        display.say(f"settings of {method.name} on {name} kept in {save_settings(name, method.name, best)}")


def _for_cores(problem: Problem, method: Any) -> Problem:
    """The problem, or a smaller one of its kind that one core counts in seconds."""
    from jobs.forecast import core_seconds

    n = problem.n
    while n > 1 and core_seconds(problem, method) > CORE_SECONDS:
        n -= 1
        problem = Problem.named(problem.variant, n, problem.copies)
    return problem


def _print(device: str, experiment: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{experiment.title}: {experiment.name} ({experiment.shows})", title_justify="left")
    for heading in ("", experiment.x_label, "seconds", ""):
        table.add_column(heading, justify="right" if heading else "left")
    for curve in experiment.curves:
        for trial in curve.trials:
            best = " (fastest)" if trial is experiment.best else ""
            table.add_row(curve.label, f"{trial.x:g}", f"{trial.seconds:.3g}", trial.note + best)
    Console().print(table)
