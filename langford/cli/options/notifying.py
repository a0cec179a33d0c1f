"""The options of notifications, and the threads that send them while a command works."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import click
from click.core import ParameterSource

from db import Campaign
from jobs.show.hooks import CommandHook, Hook, UrlHook
from jobs.show.notifications import STALLED_SECONDS, Notifier, Say
from langford.cli.options.groups import gathered
from langford.cli.options.types import duration
from langford.cli.output.display import say
from langford.cli.stop_signals import StopSignals

LAST_SECONDS, STOPPED_SECONDS = 30.0, 3.0
"""How long the last news of a command may take, and of one that was stopped."""


@dataclass(frozen=True)
class NotifyOptions:
    """Whom to notify, and when a campaign has stalled.

    Attributes:
        command: a command that reads each notification; None: none.
        url: a URL that each notification is posted to; None: none.
        stalled_after: seconds.
    """

    command: str | None
    url: str | None
    stalled_after: float

    @property
    def given(self) -> bool:
        """Whether this command was told whom to notify, and not by the environment alone."""
        source = click.get_current_context().get_parameter_source
        return any(source(name) is ParameterSource.COMMANDLINE for name in ("command", "url"))

    def hooks(self) -> list[Hook]:
        """The ways to tell an operator something; raises BadInput."""
        hooks: list[Hook] = []
        if self.command is not None:
            hooks.append(CommandHook(self.command))
        if self.url is not None:
            hooks.append(UrlHook(self.url))
        return hooks


notify_options = gathered(
    "notify",
    NotifyOptions,
    click.option(
        "--notify-command",
        "command",
        metavar="COMMAND",
        envvar="LANGFORD_NOTIFY_COMMAND",
        help="Run this when the campaign is done, has stalled, has a conflict, distrusts a worker or sets a task "
        "aside, once each; it reads a JSON document.",
    ),
    click.option(
        "--notify-url",
        "url",
        metavar="URL",
        envvar="LANGFORD_NOTIFY_URL",
        help="Post the same document to this address.",
    ),
    click.option(
        "--stalled-after",
        type=duration,
        default=str(int(STALLED_SECONDS)),
        show_default=True,
        metavar="TIME",
        help="Notify when nobody has worked for so long while tasks are left.",
    ),
)


@contextmanager
def notified(
    campaigns: Sequence[Campaign],
    hooks: Sequence[Hook],
    stalled_after: float,
    say_it: Say,
    patience: Callable[[], float],
) -> Iterator[None]:
    """Send what is due about campaigns of one ledger while the block runs, and its last news at the end.

    Args:
        campaigns: about which something may be told.
        hooks: by each of them.
        stalled_after: see :class:`NotifyOptions`.
        say_it: see :class:`jobs.show.notifications.Notifier`.
        patience: how many seconds the last news may take, asked at the end.
    """
    notifiers = [Notifier(campaigns, hook, say_it, stalled_after) for hook in hooks]
    for notifier in notifiers:
        notifier.start()
    try:
        yield
    finally:
        end = time.monotonic() + patience()
        for notifier in notifiers:
            notifier.stop(max(0.0, end - time.monotonic()))


def say_notice(kind: str, message: str, campaign: str) -> None:
    """Say on standard error that something was told, or not; see :data:`jobs.show.notifications.Say`."""
    say(f"{campaign}: {message}")


def last_seconds(stop: StopSignals) -> float:
    """How long the last news of a command may take: less when somebody wants it to end."""
    return STOPPED_SECONDS if stop.received else LAST_SECONDS
