"""``langford count`` and ``langford estimate``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isfinite

import click

from langford.cli.options.common import (
    chosen_cores,
    device_option,
    json_option,
    method_option,
    plan_seed_option,
    sample_seed_option,
    workers_option,
    yes_option,
)
from langford.cli.options.groups import ProblemOptions, answer_options, problem_options
from langford.cli.output import display
from langford.cli.output.answer import Answer, Asked, count_again, nothing_to_count
from langford.cli.output.how_long import Cost, takes_long
from langford.cli.output.known import KnownAnswer
from langford.cli.output.progress import ProgressLine
from langford.counting import WALKS, count_tasks
from langford.counting import estimate as estimate_by_walks
from langford.devices import Device, devices
from langford.methods import chosen_plan
from langford.problem.reference import cited, published
from langford.words import seconds_left, several


@click.command(
    epilog="""\b
Examples:
  langford count 16
  langford count skolem 12 --json
  langford count 15 --method shifted --seed 7
  langford count 10 copies 3
  langford count 12 defect 4
  langford count near-skolem 12 missing 5
  langford count differences 1,2,4,5,7 empty 3
  langford count A059106 12
  langford count 20 --expect 2,636,337,861,200"""
)
@problem_options
@method_option
@plan_seed_option
@workers_option
@device_option
@answer_options
@yes_option
@json_option
@click.pass_context
def count(
    context: click.Context,
    chosen: ProblemOptions,
    method_name: str | None,
    plan_seed: int | None,
    workers: int | None,
    device: str,
    asked: Asked,
    yes: bool,
    as_json: bool,
) -> None:
    """Count the arrangements of a problem, exactly.

    With --expect, a count that takes one core, or one GPU, over an hour is answered by what is published, or by an
    export in jobs/campaigns, unless --yes is given.
    """
    asked = replace(asked, term=chosen.term)
    if asked.term is not None and not asked.term.words:
        context.exit(KnownAnswer.of_no_colour(asked).print(as_json))
    problem = chosen.problem()
    if problem.obstruction:
        context.exit(nothing_to_count(problem, method_name, asked).print(as_json))
    new = chosen_plan(problem, Device.parse(device), method_name, seed=plan_seed)
    method = new.method
    if asked.expected is not None and not yes and takes_long(problem, method, new.device.kind):
        known = KnownAnswer.of(problem, asked)
        if known is not None:
            context.exit(known.print(as_json))
    threads = chosen_cores(workers)
    chosen_devices = devices(device, threads)
    cost = Cost.of_count(problem, method, chosen_devices)
    cost.require_consent(yes)
    cost.say("`langford run` does the same and survives interruption; ")
    used = f"on {several(len(chosen_devices), chosen_devices[0].unit)}"
    plan = new.plan
    whole = float(plan.work.sum())
    line = ProgressLine(str(problem), whole, len(plan.tasks))
    with line.shown():
        counted, seconds = count_tasks(
            plan, chosen_devices, lambda done, seconds: line.update(None, done, seconds_left(whole, done, seconds))
        )
    again = partial(count_again, plan.key, chosen_devices[0], "on another machine")
    more = {"seed": plan.seed}
    answer = Answer(problem, method.name, counted, seconds, whole, used, again, more, asked=asked)
    context.exit(answer.print(as_json))


@click.command(
    epilog="""\b
Examples:
  langford estimate 31
  langford estimate skolem 32 --walks 10000000 --sample-seed 7"""
)
@problem_options
@click.option("--walks", type=click.IntRange(2, 100_000_000), default=WALKS, show_default=True)
@sample_seed_option(type=click.IntRange(0, 2**64 - 1), default=1, show_default=True)
@json_option
def estimate(chosen: ProblemOptions, walks: int, seed: int, as_json: bool) -> None:
    """Estimate a count by Knuth's random walks, with its standard error."""
    problem, term = chosen.problem(), chosen.term
    estimated = estimate_by_walks(" ".join(chosen.words), walks, seed)
    known, what = published(problem), term or problem
    if known is not None:
        known = Asked(term=term).number(known, problem.arrangements(known))
    if as_json:
        display.print_json(
            {
                "problem": problem.name,
                "estimate": estimated.value,
                "standard_error": estimated.standard_error if isfinite(estimated.standard_error) else None,
                "walks": estimated.walks,
                "fruitful": estimated.fruitful,
                "seed": seed,
                "exact": None if known is None else str(known),
            }
        )
        return
    if problem.obstruction:
        print(f"{what} = 0, exactly, without a walk\n  no arrangement exists, {problem.obstruction}")
        return
    if isfinite(estimated.standard_error):
        relative = f"one standard error, {estimated.standard_error / estimated.value:.2%}"
        print(f"{what} ≈ {estimated.value:.5g} ± {estimated.standard_error:.2g} ({relative})")
    elif estimated.fruitful:
        print(f"{what} ≈ {estimated.value:.1g}, roughly: too few fruitful walks for an error; give more --walks")
    else:
        print(f"{what}: no estimate, since no walk found an arrangement")
    print(f"  {estimated.walks:,} walks, {estimated.fruitful:,} of them fruitful, seed {seed}")
    if known is not None:
        print(f"  exactly {known:,} ({term or cited(problem) or problem.obstruction})")
    if not estimated.fruitful:
        print("  give more --walks; if none of them finds one, there may be no arrangement: `langford count`")
