"""The options of notifications, and the thread that sends them while a command works."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import click

from db import Campaign
from db.look.overview.records import Overview
from db.look.overview.shared import Shared
from jobs.show.hooks import CommandHook
from jobs.show.notifications import STALLED_SECONDS, Notifier, Say
from langford.cli.exit_codes import StopSignals
from langford.cli.options.common import is_given
from langford.cli.options.groups import gathered
from langford.cli.options.types import duration
from langford.cli.output.display import say

LAST_SECONDS, STOPPED_SECONDS = 30.0, 3.0
"""The time limit for the last notifications of a command, and of one that was stopped."""


@dataclass(frozen=True)
class NotifyOptions:
    """The command that notifies, and when a campaign has stalled."""

    command: str | None
    stalled_after: float

    @property
    def given(self) -> bool:
        """Whether an option of this command, and not only the environment, says whom to notify."""
        return is_given("command")

    def hook(self) -> CommandHook | None:
        """Raises BadInput where there is no such command."""
        return None if self.command is None else CommandHook(self.command)


notify_options = gathered(
    "notify",
    NotifyOptions,
    click.option(
        "--notify-command",
        "command",
        metavar="COMMAND",
        envvar="LANGFORD_NOTIFY_COMMAND",
        help="Run this for each event: the campaign is done, stalls, has a conflict, distrusts a worker "
        "or sets a task aside.  A JSON document on its standard input describes the event.",
    ),
    click.option(
        "--stalled-after",
        type=duration,
        default=str(int(STALLED_SECONDS)),
        show_default=True,
        metavar="TIME",
        help="Notify when no result has arrived for this long (in seconds, or like 2h) and tasks are left.",
    ),
)


@contextmanager
def notified(
    overviews: Mapping[Campaign, Shared[Overview]],
    hook: CommandHook | None,
    stalled_after: float,
    say_it: Say,
    patience: Callable[[], float],
) -> Iterator[None]:
    """Send notifications about campaigns of one ledger while the block runs, and the last ones at its end.

    Args:
        hook: None: nobody is notified.
        stalled_after: see :class:`NotifyOptions`.
        say_it: see :class:`jobs.show.notifications.Notifier`.
        patience: gives the time limit for the last notifications, in seconds; called at the end.
    """
    if hook is None:
        yield
        return
    notifier = Notifier(overviews, hook, say_it, stalled_after)
    notifier.start()
    try:
        yield
    finally:
        notifier.stop(patience())


def watched(campaigns: Sequence[Campaign]) -> Mapping[Campaign, Shared[Overview]]:
    """Overviews for :func:`notified`, where nobody else looks at these campaigns."""
    return {campaign: Shared(campaign.reader.overview) for campaign in campaigns}


def say_notice(message: str, campaign: str) -> None:
    say(f"{campaign}: {message}")


def last_seconds(stop: StopSignals) -> float:
    """The time limit for the last notifications, in seconds: shorter after a signal that asks to stop."""
    return STOPPED_SECONDS if stop.received else LAST_SECONDS
