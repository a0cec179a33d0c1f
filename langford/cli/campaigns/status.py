"""``langford status``: how far, how fast, until when, who works, and what went wrong."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import click

from db.look.overview.records import Overview
from db.messages import document
from jobs.reach.campaign import Campaign
from jobs.reach.join import SUFFIX, is_join_file, joined
from jobs.reach.patience import Patience
from langford.cli.campaigns.opening import campaigns_meant
from langford.cli.options.common import json_option, ledger_option, refuse_ledger_beside
from langford.cli.options.groups import PROBLEM, problem_words
from langford.cli.output import display
from langford.cli.output.overviews import line_of, lines_of
from langford.cli.output.progress import LOG_SECONDS, Terminal
from langford.cli.output.tables import width_of_output
from langford.ledger import Ledger

TERMINAL_SECONDS = 2.0
"""Between two looks."""


@click.command(
    epilog="""\b
Examples:
  langford status
  langford status langford-24-polyphase-12 --ledger records.db --json
  langford status 24 --watch
  langford status 24 --why 17
  langford status reader.join

Columns that do not fit are dropped on a terminal, never in a file or pipe.  --watch ends when all
campaigns are done, or at Ctrl-C, with exit code 0."""
)
@problem_words(f"[{PROBLEM} | NAME | NAME{SUFFIX}]")
@ledger_option
@click.option(
    "--watch",
    is_flag=True,
    help="Refresh the display every 2 s; in a log, write a line for each campaign every 30 s.",
)
@click.option(
    "--why",
    is_flag=False,
    flag_value="",
    metavar="[TASK]",
    help="Explain what a task waits for; without TASK, why workers that are present have none.",
)
@json_option
def status(
    words: tuple[str, ...],
    address: str,
    watch: bool,
    why: str | None,
    as_json: bool,
) -> None:
    """Show progress, speed, end and workers of campaigns, and what needs attention.

    With PROBLEM or NAME, it shows everything about one campaign.  With NAME.join, the file that `langford serve`
    wrote or one of a reader's token, it asks the server instead of the ledger.
    """
    if why is not None and (watch or not words):
        raise click.UsageError("--why explains one campaign, once: name it, without --watch")
    with ExitStack() as stack:
        campaigns = _campaigns(words, address, stack)

        def look() -> list[Overview]:
            return [campaign.overview() for campaign in campaigns()]

        if why is not None:
            _explain(campaigns(), why, as_json)
        elif watch:
            _watch(look, as_json)
        elif as_json:
            display.print_json([document(overview) for overview in look()])
        else:
            _print(lines_of(look(), width_of_output()))


def _explain(campaigns: Sequence[Campaign], why: str, as_json: bool) -> None:
    """``why``: the number of a task; "": why workers have none."""
    if why and not (why.isascii() and why.isdecimal() and len(why) < 10):
        raise click.UsageError(f"--why takes the number of a task, not {why!r:.40}: put it after the campaign")
    for campaign in campaigns:
        reasons = campaign.why(int(why) if why else None)
        if as_json:
            display.print_json(reasons)
        else:
            _print(reasons)


def _campaigns(words: Sequence[str], address: str, stack: ExitStack) -> Callable[[], Sequence[Campaign]]:
    """That of a join file, or one or all of a ledger: the same objects each time, which know their last forecasts.

    ``stack``: closes the server or the ledger.  Raises as :func:`campaigns_meant` and :func:`joined`.
    """
    if words and is_join_file(words[0]):
        if len(words) > 1:
            raise click.UsageError(f"{words[0]} is the file of one campaign: leave out {words[1]}")
        refuse_ledger_beside("a join file")
        server = joined(Path(words[0]))
        stack.callback(server.close)
        return lambda: [server]
    ledger = stack.enter_context(Ledger(address))
    if words:
        meant = campaigns_meant(words, ledger)
        return lambda: [each.worker for each in meant]
    known: dict[str, Campaign] = {}
    return lambda: [known.setdefault(each.uuid, each.worker) for each in ledger.campaigns()]


def _watch(look: Callable[[], list[Overview]], as_json: bool) -> None:
    """Show what there is again and again, until all is done.  Ctrl-C ends it without an error."""
    if as_json or not sys.stdout.isatty():
        line = _json_line if as_json else line_of
        with suppress(KeyboardInterrupt):
            for overviews in _looks(look, LOG_SECONDS):
                _print([line(overview) for overview in overviews])
        return
    from langford.cli.output.screen import Screen

    overviews = []
    with suppress(KeyboardInterrupt), Screen() as screen:
        for overviews in _looks(look, TERMINAL_SECONDS):
            screen.show(lines_of(overviews, width_of_output()))
    _print(lines_of(overviews, width_of_output()))


def _looks(look: Callable[[], list[Overview]], seconds: float) -> Iterator[list[Overview]]:
    """What there is, again and again, until all is done."""
    overviews = look()
    yield overviews
    patience = Patience(Terminal(), "what is watched")
    while not overviews or any(overview.finished is None for overview in overviews):
        time.sleep(seconds)
        overviews = patience.insist(look)
        yield overviews


def _json_line(overview: Overview) -> str:
    return json.dumps(document(overview))


def _print(lines: list[str]) -> None:
    print("\n".join(lines), flush=True)
