"""``langford tune``: the experiments with the settings of a method."""

from __future__ import annotations

from pathlib import Path

import click

from jobs.tuning import session
from jobs.tuning.experiment import NOISE, Experiment
from jobs.tuning.session import experiments
from langford.cli.options.common import json_option
from langford.cli.options.groups import ProblemOptions, problem_options
from langford.cli.output import display
from langford.cli.output.progress import Terminal
from langford.cli.output.tables import Column, table
from langford.devices import Cuda, Host
from langford.methods import find_method

RUN_KERNELS: dict[str, Cuda | Host] = {"cuda": Cuda(), "host": Host()}
"""What can run the kernels of a GPU."""


@click.command(
    epilog="""\b
Examples:
  langford tune miller 15
  langford tune godfrey skolem 20 --out figures
  langford tune regular 14 --json"""
)
@click.argument("method_name", metavar="METHOD", type=click.Choice(["miller", "regular", "godfrey"]))
@problem_options
@click.option(
    "--repeat", type=click.IntRange(min=1), default=3, show_default=True, help="Counts timed for each setting."
)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Write the plots to this folder.")
@click.option(
    "--device",
    "where",
    type=click.Choice(list(RUN_KERNELS)),
    default="cuda",
    show_default=True,
    help="Where to run the kernels of the GPU; host: on this processor, for small N.",
)
@json_option
def tune(
    method_name: str,
    chosen: ProblemOptions,
    repeat: int,
    out: Path | None,
    where: str,
    as_json: bool,
) -> None:
    """Count one problem with many settings, and compare their times.

    On the processor: the depth of tasks and the number of cores, with a smaller problem if N would take
    long.  On a GPU also: colours per lane, threads and blocks, scheduling, streams, cores that feed and
    compute.  The other commands use fixed settings, whatever is fastest here.
    """
    problem = chosen.problem()
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    documents = []
    method = find_method(method_name, problem)
    for device, experiment in experiments(problem, method, repeat, Terminal(), RUN_KERNELS[where]):
        documents.append({"device": device, **experiment.document()})
        if not as_json:
            _print(experiment)
        if out is not None:
            session.draw(experiment, out / f"{method_name}-{device}-{experiment.name}.svg")
    if as_json:
        display.print_json(documents)


def _print(experiment: Experiment) -> None:
    rows = [
        (
            label,
            f"{trial.x:g}",
            f"{trial.seconds:.3g}",
            trial.note + (f" (fastest, within {NOISE:.0%})" if trial is experiment.best else ""),
        )
        for label, trials in experiment.curves.items()
        for trial in trials
    ]
    labels, places, seconds, notes = (list(column) for column in zip(*rows, strict=True))
    columns = Column("", labels), Column(experiment.x_label, places, True), Column("seconds", seconds, True)
    print(f"{experiment.title}: {experiment.name} ({experiment.shows})")
    print("\n".join(table([*columns, Column("", notes)])))
