"""What the commands that work off a campaign share: limits, signals, progress and how it ended."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

import click

from langford.problem import Problem

INCOMPLETE, TASKS_SET_ASIDE = 3, 1


def seconds_of(context: click.Context, option: click.Parameter, value: str | None) -> float | None:
    """Seconds from "90", "1:30" or "0:01:30"."""
    if value is None:
        return None
    try:
        seconds = 0.0
        for part in value.split(":"):
            seconds = 60 * seconds + float(part)
    except ValueError as error:
        raise click.BadParameter("write seconds, MM:SS or HH:MM:SS") from error
    return seconds


class StopSignals:
    """Remembers the first signal that asks the run to stop."""

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._remember)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.received = self.received or signal.Signals(number)

    def reason(self) -> str | None:
        """The signal's name."""
        return self.received.name if self.received else None


def create_campaign(book: Any, key: Any, name: str | None) -> Any:
    """The campaign of a plan, made or found again in a ledger."""
    from jobs.evaluation import plan_of

    plan = plan_of(key)
    name = name or key.name
    return book.create_campaign(name, key, plan.work.tolist())


def work_off(
    book: Any, campaign: Any, places: Any, stop: StopSignals, time_limit: float | None, **options: Any
) -> Any:
    """Run a campaign with its progress on the terminal; ``options`` as of CampaignRun.  The report."""
    from jobs.campaign import CampaignRun, Step
    from langford.cli import display

    line = display.ProgressLine(campaign.name, campaign.work, campaign.tasks)

    def tell(step: Step) -> None:
        line.update(step.tasks_done, step.work_done, step.work_here, step.seconds_here)
        if step.message:
            line.remark(step.message)

    with line.shown():
        return CampaignRun(book, campaign, places, tell, stop.reason, time_limit, **options).run()


def conclude(book: Any, campaign: Any, report: Any, stop: StopSignals, ledger: str, as_json: bool) -> int:
    """Print the count, or why there is none yet; the exit code."""
    from langford.cli import display

    again = f"run the same command again to go on (ledger {ledger})"
    if stop.received:
        display.say(f"stopped by {stop.received.name} after {report.tasks_here} tasks; {again}")
        return 128 + stop.received
    if report.set_aside:
        display.say(
            f"{report.set_aside} tasks failed too often; see `langford tasks {campaign.name} --state "
            f"set-aside`, then `langford retry {campaign.name}`"
        )
        return TASKS_SET_ASIDE
    left = campaign.tasks - campaign.progress().tasks.get("done", 0)
    if left:
        why = f"the {report.stopped} is near" if report.stopped else "other workers hold the rest"
        display.say(f"{left} of {campaign.tasks} tasks are left ({why}); {again}")
        return INCOMPLETE
    print_result(book, campaign.name, as_json)
    return 0


def print_result(book: Any, name: str, as_json: bool) -> None:
    """Merge a campaign and print its count; raises what the merge raises."""
    from jobs import campaign as campaigns
    from langford.cli import display

    campaign = book.campaign(name)
    count = campaigns.result(campaign)
    seconds, key = campaign.progress().seconds, campaign.key
    print_count(display, name, key.problem, key.method, key.depth, count, seconds, as_json)


def print_count(
    display: Any, name: str, problem: Problem, method: str, depth: int, count: Any, seconds: float, as_json: bool
) -> None:
    """Print the count of a campaign with its checks."""
    if as_json:
        document = display.count_document(problem, method, count, seconds)
        display.print_json({"campaign": name, "depth": depth, **document})
    else:
        display.print_count(problem, method, count, seconds, "of computing time")
