"""The lines of the server's log, in words; none has a token.

They go to a logger of the standard library; whoever starts the server chooses how they are written.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from db import Campaign
from db.look.overview.records import Happened, Overview
from db.look.overview.workers import MAX_SHOWN
from langford.words import several, shortened

NAME = "langford.server"
LOGGER = logging.getLogger(NAME)
LOGGERS = ("langford", "uvicorn.error")
"""What the log of a server is made of."""


def line(message: str, campaign: str | None = None) -> None:
    """``campaign``: None: the line is about the server."""
    LOGGER.info("%s", message, extra={"campaign": campaign})


def listening(address: str, campaigns: Sequence[Campaign]) -> None:
    words = [f"{campaign.name} ({_done(campaign)})" for campaign in campaigns]
    line(f"listening on {address} for {', '.join(words)}")


def _done(campaign: Campaign) -> str:
    done = campaign.reader.standing().tasks_done
    return f"{done:,} of {several(campaign.tasks, 'task')} done"


def stopped() -> None:
    line("stopped: workers keep what they hold, and ask again")


def happened(campaign: str, events: Sequence[Happened]) -> None:
    """``events``: of one kind, oldest first."""
    newest, number = events[-1], f"{len(events):,}{' or more' if len(events) >= MAX_SHOWN else ''}"
    others = f" (the newest of {number})" if len(events) > 1 else ""
    line(f"{newest.kind}: {shortened(newest.text)}{others}", campaign)


def done(overview: Overview) -> None:
    checks = (
        f"; {several(overview.checked.replicated, 'result is', 'results are')} replicated"
        if overview.checked.drawn
        else ""
    )
    next_step = f"`langford result {overview.campaign}` prints the count"
    line(f"done: {several(overview.tasks.done, 'task')}{checks}; {next_step}", overview.campaign)
