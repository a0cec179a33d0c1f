"""``langford confirm``: count the problem of a campaign again in another way, and compare the counts."""

from __future__ import annotations

import click

from jobs.verify.confirmation import Confirmation, confirming_plan, require_complete
from langford.cli.campaigns.opening import campaign_meant
from langford.cli.campaigns.running import complete, create_campaign, unfinished
from langford.cli.exit_codes import ExitCode, StopSignals
from langford.cli.options.common import (
    METHOD_NAMES,
    depth_option,
    json_option,
    ledger_option,
    yes_option,
)
from langford.cli.options.groups import PROBLEM, ComputeOptions, compute_options, problem_words
from langford.cli.output import display
from langford.cli.output.how_long import Cost
from langford.ledger import Ledger
from langford.methods import METHODS
from langford.words import several


@click.command(
    epilog="""\b
Examples:
  langford confirm 19
  langford confirm langford-24-shifted-12 --seed 7
  langford confirm langford-24-shifted-12 --method polyphase --device cuda

Exit codes: 0 both counts are the same, 3 incomplete, 4 they differ, or contradict what is known; else those of
`langford run`.  The same command resumes after an interruption."""
)
@problem_words(f"{PROBLEM} | NAME")
@ledger_option
@click.option(
    "--method",
    "method_name",
    type=METHOD_NAMES,
    help="Default: of the methods at most four times slower than the fastest, the one that shares least with the "
    "campaign's; or that of a finished campaign of this problem in the ledger.",
)
@click.option(
    "--seed",
    "plan_seed",
    type=int,
    help="Which sum of shifted2, shifted or necklace to use; another seed has different partial sums and the "
    "same total.  [default: 0, or the one after that of a campaign by the same method]",
)
@depth_option
@yes_option
@compute_options
@json_option
@click.pass_context
def confirm(
    context: click.Context,
    words: tuple[str, ...],
    address: str,
    method_name: str | None,
    plan_seed: int | None,
    depth: int | None,
    yes: bool,
    computing: ComputeOptions,
    as_json: bool,
) -> None:
    """Count a campaign's problem again in another way, and compare the counts.

    A new campaign in this ledger recomputes everything by another method: of those at most four times slower than
    the fastest, the one that shares least with the first.  If none remains, it uses the same method with another
    seed.  If the ledger has a finished campaign of the problem by another method or seed, that one is used.  Only
    the totals are compared, because the partial sums differ.  Those of miller and regular are the same: `langford
    verify NAME --method` compares them one by one.
    """
    stop = StopSignals()
    with Ledger(address) as ledger:
        campaign = campaign_meant(words, ledger)
        name = campaign.name
        counted = require_complete(campaign)
        chosen_devices = computing.devices()
        key, second = confirming_plan(ledger.campaigns(), campaign, method_name, plan_seed, depth, chosen_devices)
        if not ledger.has(second):
            cost = Cost.of_count(key.problem, METHODS[key.method], chosen_devices, str(key))
            cost.require_consent(yes, computing.time_limit)
        confirming = create_campaign(ledger, key, second, yes)
        display.say(f"recounting {name} using {key.method}, to compare the counts: campaign {confirming.name}")
        report = complete(confirming, chosen_devices, stop, computing.time_limit)
        ended = unfinished(confirming, report, stop)
        if ended is not None:
            context.exit(ended.print(as_json))
        outcome = Confirmation(
            campaign.problem, (name, campaign.key), (confirming.name, key), (counted, require_complete(confirming))
        )
    if as_json:
        display.print_json(outcome.document())
    else:
        _print(outcome)
    if not outcome.agrees:
        display.say(f"langford: {name} is not confirmed: {outcome.words}")
        context.exit(ExitCode.CHECK_FAILED)


def _print(outcome: Confirmation) -> None:
    plans = (outcome.first, outcome.second)
    for (name, key), count in zip(plans, outcome.counts, strict=True):
        seed = f", seed {key.seed}" if key.seed else ""
        print(
            f"{outcome.problem} = {count.published:,}  {name}: {key.method}, {several(count.tasks, 'task')}{seed}"
        )
    print(f"  {outcome.words}")
