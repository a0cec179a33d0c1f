"""``langford run``: create or resume a campaign, and work it off on this machine."""

from __future__ import annotations

from dataclasses import replace

import click

from langford.cli.campaigns.opening import existing_campaigns, only, problem_meant, term_meant
from langford.cli.campaigns.running import (
    complete,
    conclude,
    create_campaign,
    existing,
    failed,
    planned,
    resumed,
)
from langford.cli.exit_codes import StopSignals
from langford.cli.options.common import (
    json_option,
    ledger_option,
    patience_option,
    task_time_option,
)
from langford.cli.options.groups import (
    CampaignOptions,
    ComputeOptions,
    answer_options,
    campaign_options_or_name,
    compute_options,
)
from langford.cli.options.notifying import (
    NotifyOptions,
    last_seconds,
    notified,
    notify_options,
    say_notice,
    watched,
)
from langford.cli.output.answer import Asked, nothing_to_count
from langford.cli.output.how_long import Cost, dry_run_option
from langford.devices import Device
from langford.errors import LangfordError
from langford.ledger import Campaign, Ledger
from langford.methods.speed import Speed

TASKS_IN_LIMIT = 4
"""As many of a new campaign's tasks fit into the time limit, one after the other."""


@click.command(
    epilog="""\b
Examples:
  langford run 19
  langford run 19 --method polyphase --depth 10
  langford run skolem 20 --ledger records.db --time-limit 2:00:00
  langford run 31 --dry-run
  langford run langford-19-polyphase-10
  langford run differences 1,2,4,7

The same command resumes the campaign, and so does `langford run NAME`.  Exit codes: 0 done, 1 tasks set aside,
2 bad input, 3 incomplete, 4 a result is wrong, 128 + N stopped by signal N."""
)
@campaign_options_or_name
@task_time_option
@ledger_option
@compute_options
@patience_option
@notify_options
@answer_options
@dry_run_option
@json_option
@click.pass_context
def run(
    context: click.Context,
    chosen: CampaignOptions,
    task_time: float | None,
    address: str,
    computing: ComputeOptions,
    patience: float,
    notify: NotifyOptions,
    asked: Asked,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Create or resume a campaign and run it on this machine."""
    chosen.require_one_depth(task_time)
    stop, hook = StopSignals(), notify.hook()

    def completed(campaign: Campaign, speed: Speed | None = None) -> int:
        watch = watched([campaign])
        with notified(watch, hook, notify.stalled_after, say_notice, lambda: last_seconds(stop)):
            try:
                report = complete(campaign, here, stop, computing.time_limit, patience=patience, speed=speed)
            except LangfordError as error:
                failed(campaign, error, as_json)
                raise
        return conclude(campaign, report, stop, as_json, asked)

    with existing(address) as found:
        problem = problem_meant(chosen.words, found)
        asked = replace(asked, term=term_meant(chosen.words, found))
    is_new = chosen.is_new or task_time is not None
    if problem is None:
        with Ledger(address) as ledger:
            campaign = only(existing_campaigns(chosen.words, ledger, is_new))
            here = computing.devices()
            if dry_run:
                planned(ledger, address, campaign.name, campaign.key, here).print(as_json)
                return
            context.exit(completed(campaign))
    place = Device.parse(computing.device)
    if problem.obstruction:
        context.exit(nothing_to_count(problem, chosen.method_name, asked).print(as_json))
    at_most = computing.time_limit / TASKS_IN_LIMIT if computing.time_limit else None
    new = chosen.plan(place, task_time, at_most)
    here = computing.devices()
    with existing(address) as found:
        begun = resumed(found, new, chosen.name, is_new)
        if dry_run:
            name, key = (chosen.name, new.key) if begun is None else (begun.name, begun.key)
            planned(found, address, name, key, here).print(as_json)
            return
        if begun is not None:
            context.exit(completed(begun))
    cost = Cost.of_count(new.problem, new.method, here)
    cost.require_consent(chosen.yes, computing.time_limit)
    with Ledger(address, create=True) as ledger:
        campaign = create_campaign(ledger, new.key, chosen.name, chosen.yes)
        cost.say()
        context.exit(completed(campaign, cost.speed and cost.speed.of_plan(new.plan)))
