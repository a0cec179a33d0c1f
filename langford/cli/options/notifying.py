"""The options of notifications, and the threads that send them while a command works."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import click

from db import Campaign
from jobs.show.hooks import CommandHook, Hook, UrlHook, has_secret
from jobs.show.notifications import STALLED_SECONDS, Notifier, Say
from langford.cli.exit_codes import StopSignals
from langford.cli.options.common import is_given, is_on_command_line
from langford.cli.options.groups import gathered
from langford.cli.options.types import duration
from langford.cli.output.display import say

LAST_SECONDS, STOPPED_SECONDS = 30.0, 3.0
"""The time limit for the last notifications of a command, and of one that was stopped."""


@dataclass(frozen=True)
class NotifyOptions:
    """Whom to notify, and when a campaign has stalled."""

    command: str | None
    url: str | None
    stalled_after: float

    @property
    def given(self) -> bool:
        """Whether an option of this command, and not only the environment, says whom to notify."""
        return is_given("command") or is_given("url")

    def hooks(self) -> list[Hook]:
        hooks: list[Hook] = []
        if self.command is not None:
            hooks.append(CommandHook(self.command))
        if self.url is not None:
            hooks.append(UrlHook(self.url))
        return hooks


def without_open_secret(context: click.Context, parameter: click.Parameter, url: str | None) -> str | None:
    """The address, unchanged; warns if other users can read a secret of it in the list of processes."""
    if url is not None and is_on_command_line(context, parameter) and has_secret(url):
        say(
            "langford: other users of this machine can read the secret in --notify-url in the list of processes: "
            "keep the address in LANGFORD_NOTIFY_URL"
        )
    return url


notify_options = gathered(
    "notify",
    NotifyOptions,
    click.option(
        "--notify-command",
        "command",
        metavar="COMMAND",
        envvar="LANGFORD_NOTIFY_COMMAND",
        help="Run this once for each event: the campaign is done, stalls, has a conflict, distrusts a worker "
        "or sets a task aside.  A JSON document on its standard input describes the event.",
    ),
    click.option(
        "--notify-url",
        "url",
        metavar="URL",
        envvar="LANGFORD_NOTIFY_URL",
        callback=without_open_secret,
        help="Post the same document to this address.",
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
    campaigns: Sequence[Campaign],
    hooks: Sequence[Hook],
    stalled_after: float,
    say_it: Say,
    patience: Callable[[], float],
) -> Iterator[None]:
    """Send notifications about campaigns of one ledger while the block runs, and the last ones at its end.

    Args:
        stalled_after: see :class:`NotifyOptions`.
        say_it: see :class:`jobs.show.notifications.Notifier`.
        patience: gives the time limit for the last notifications, in seconds; called at the end.
    """
    notifiers = [Notifier(campaigns, hook, say_it, stalled_after) for hook in hooks]
    for notifier in notifiers:
        notifier.start()
    try:
        yield
    finally:
        end = time.monotonic() + patience()
        with ExitStack() as stack:  # all of them, also after a second Ctrl-C
            for notifier in notifiers:
                stack.callback(_stop, notifier, end)


def _stop(notifier: Notifier, end: float) -> None:
    notifier.stop(max(0.0, end - time.monotonic()))


def say_notice(kind: str, message: str, campaign: str) -> None:
    say(f"{campaign}: {message}")


def last_seconds(stop: StopSignals) -> float:
    """The time limit for the last notifications, in seconds: shorter after a signal that asks to stop."""
    return STOPPED_SECONDS if stop.received else LAST_SECONDS
