"""The measurement by which a machine chooses the method of a sum: the speed of each at the same problem."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.console import SILENT, Console
from jobs.tuning.experiment import GPU, Experiment, Trial
from langford.devices import CPU
from langford.errors import BadInput
from langford.kernels.gpu.runtime import NoGpu
from langford.methods import candidates
from langford.methods.speed import keep, measured
from langford.problem import Problem
from langford.words import duration


def choices(
    problem: Problem, repetitions: int, console: Console = SILENT, save: bool = True
) -> Iterator[tuple[str, Experiment]]:
    """Yield (kind of device, experiment): the projected time of a problem by each method, on a core and on GPU 0.

    Args:
        problem: to be counted.
        repetitions: tasks of each method, drawn over the whole plan.
        console: gets the progress.
        save: keep the results in the profile.

    Raises BadInput when no device has two methods for the problem, NoHome or OSError.
    """
    compared = 0
    for device in (CPU, GPU):
        methods = candidates(problem, device.kind)
        if len(methods) < 2:
            continue
        compared += 1
        try:
            name = device.name
        except NoGpu as error:
            console.say(f"{problem} on a GPU is left out: {error}")
            continue
        seconds = {}
        for method in methods:
            seconds[method.name] = measured(problem, method, device, repetitions).expected(problem)
            console.say(f"{problem} by {method.name} on {name}: about {duration(seconds[method.name])}")
        curves = {method: [Trial(problem.n, took, {"method": method})] for method, took in seconds.items()}
        yield device.kind, Experiment("choice", f"{problem} on {name}", "n", curves, "whole count, projected")
        if save:
            console.say(f"the times on {name} are kept in {keep(problem, device, seconds)}")
    if not compared:
        raise BadInput(f"only one method counts {problem} fast, so there is no choice: give another problem")
