"""``langford count`` and ``langford estimate``."""

from __future__ import annotations

from typing import Any

import click

from langford.cli.options import (
    METHOD_NAMES,
    chosen_method,
    chosen_problem,
    device_option,
    json_option,
    problem_options,
)
from langford.devices import cores
from langford.errors import TooExpensive

SECONDS_WORTH_SAYING = 3.0
SECONDS_WORTH_A_LEDGER = 1800.0
LONGEST_COUNT = 31_557_600.0


@click.command(
    epilog="""\b
Examples:
  langford count 16
  langford count 12 --variant skolem --json
  langford count 10 --copies 3
  langford count --differences 1,2,4,5,7 --places 11 --empty 2"""
)
@problem_options
@click.option("--method", type=click.Choice(METHOD_NAMES), help="Default: the fastest that applies.")
@click.option("--cores", "threads", type=click.IntRange(min=1), help="Default: all.")
@device_option
@click.option("--anyway", is_flag=True, help="Start even if it would take years.")
@json_option
def count(method: str | None, threads: int | None, device: str, anyway: bool, as_json: bool, **chosen: Any) -> None:
    """Count the arrangements of N colours, exactly."""
    problem = chosen_problem(**chosen)
    from jobs import forecast
    from langford.cli import display
    from langford.counting import count_tasks, plan
    from langford.devices import CPU, devices

    way = chosen_method(method, problem)
    threads = threads or cores()
    places = devices(device, threads)
    expected = forecast.core_seconds(problem, way) / threads if places[0] == CPU else 0.0
    if expected > LONGEST_COUNT and not anyway:
        years = expected * threads / LONGEST_COUNT
        raise TooExpensive(
            f"{problem} by {way.name} would take about {display.duration(expected)} on this machine "
            f"({years:,.0f} core years): it needs a cluster of many cores, or GPUs; "
            f"`langford estimate {problem.n}` approximates it now (--anyway starts nevertheless)"
        )
    if expected > SECONDS_WORTH_SAYING:
        display.say(f"{problem} by {way.name}: about {display.duration(expected)} on {threads} cores")
    if expected > SECONDS_WORTH_A_LEDGER:
        display.say("`langford run` does the same and survives interruption")
    where = f"on {threads} cores" if places[0] == CPU else f"on {len(places)} GPUs"
    split = plan(problem, way.name, device=places[0])
    line = display.ProgressLine(str(problem), float(split.work.sum()), len(split.tasks))
    with line.shown():
        found, seconds = count_tasks(split, places, lambda done, seconds: line.update(None, done, done, seconds))
    if as_json:
        display.print_json(display.count_document(problem, way.name, found, seconds))
    else:
        display.print_count(problem, way.name, found, seconds, where)


@click.command(
    epilog="""\b
Examples:
  langford estimate 31
  langford estimate 32 --walks 10000000 --seed 7"""
)
@problem_options
@click.option("--walks", type=click.IntRange(min=2), default=1_000_000, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@json_option
def estimate(walks: int, seed: int, as_json: bool, **chosen: Any) -> None:
    """Estimate a count by Knuth's random walks, with its standard error."""
    problem = chosen_problem(**chosen)
    from langford.cli import display
    from langford.estimation import estimate as walk

    found = walk(problem, walks, seed)
    if as_json:
        display.print_json(
            {
                "problem": problem.name,
                "estimate": found.value,
                "standard_error": found.standard_error,
                "walks": found.walks,
                "fruitful": found.fruitful,
                "seed": seed,
            }
        )
        return
    relative = found.standard_error / found.value if found.value else float("inf")
    print(f"{problem} ≈ {found.value:.5g} ± {found.standard_error:.2g} (one standard error, {relative:.2%})")
    print(f"  {found.walks:,} walks, {found.fruitful:,} of them fruitful, seed {seed}")
    if problem.obstruction:
        print(f"  the exact value is 0: {problem.obstruction}")
