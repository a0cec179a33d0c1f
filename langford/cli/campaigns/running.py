"""The parts that commands for campaigns share: what is left, signals, progress, and the report at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import langford
from db.errors import LedgerError, NoLedger
from db.files.promise import document as promise_document
from db.files.promise import in_words
from db.identity import Identity
from jobs.console import Console
from jobs.reach.outbox import Outbox
from jobs.run.loop import OUT_OF_TIME, RunReport
from jobs.verify.agreement import recomputing
from jobs.verify.second_method import advised
from langford.cli.exit_codes import ExitCode, StopSignals, code_of_signal
from langford.cli.options.common import outbox_folder
from langford.cli.output import display
from langford.cli.output.answer import NOTHING_MORE, Answer, Asked
from langford.cli.output.how_long import TASK_DISK_BYTES, Cost, DryRun
from langford.cli.output.progress import ProgressLine, Terminal
from langford.devices import Device
from langford.errors import BadInput, LangfordError
from langford.methods import METHODS, ChosenPlan, Count, PlanKey, plan_of
from langford.methods.choice import MANY_TASKS
from langford.words import percent, quantity, several

if TYPE_CHECKING:
    # Ranks of MPI load no SQL.
    from langford.ledger import Campaign, Ledger


def create_campaign(ledger: Ledger, key: PlanKey, name: str | None, yes: bool) -> Campaign:
    """Create the campaign of a plan in a ledger, or find it there.

    ``yes``: whether millions of tasks are meant; otherwise the user is asked, if there is a terminal.
    Raises CampaignMismatch, or BadInput.
    """
    work = plan_of(key).work
    if len(work) > MANY_TASKS and not yes and not ledger.has(name or key.name):
        size = f"{quantity(TASK_DISK_BYTES * len(work))}B"
        many = f"{key} has {len(work):,} tasks, which take about {size} on disk when they are done"
        if not display.confirmed(f"{many}. Create it?"):
            raise BadInput(f"{many}: choose a smaller --depth, or give --yes")
    return ledger.campaign(key, name=name)


def promise(campaign: Campaign, share: float | None) -> None:
    """Let a share of a campaign's tasks be replicated; None: as it was.  Raises BadInput for less than before."""
    if share is None:
        return
    if share < campaign.recheck_share:
        raise BadInput(
            f"{campaign.name} promises --replicate {campaign.recheck_share:g}, which cannot be lowered: give a "
            "larger share, or leave --replicate out"
        )
    campaign.operator.raise_share(share)


def complete(
    campaign: Campaign, devices: Sequence[Device], stop: StopSignals, time_limit: float | None, **how: Any
) -> RunReport:
    """``how``: see :meth:`langford.ledger.Campaign.run`."""
    line = ProgressLine(campaign.name, campaign.work, campaign.tasks)
    identity = Identity.fresh(devices)
    console = Terminal(line, stop)
    with line.shown():
        outbox = outbox_of(identity, console)
        return campaign.run(devices, time_limit, console, identity=identity, outbox=outbox, **how)


def outbox_of(identity: Identity, console: Console) -> Outbox | None:
    """None where there is no folder for the results of a run."""
    named = os.environ.get("LANGFORD_OUTBOX")
    with suppress(LangfordError, OSError):
        return Outbox(outbox_folder(Path(named) if named else None, create=False), identity, console)
    return None


def conclude(
    campaign: Campaign, report: RunReport, stop: StopSignals, as_json: bool, asked: Asked = NOTHING_MORE
) -> int:
    """Print the count, or the reason why there is none yet; returns the exit code.

    With ``as_json`` a document goes to standard output in every case, also before the errors of :func:`answer_of`.
    """
    ended = unfinished(campaign, report, stop)
    if ended is not None:
        return ended.print(as_json)
    try:
        answer = replace(answer_of(campaign), asked=asked)
    except LangfordError as error:
        if as_json:
            display.print_json(_document(campaign, report, str(error)))
        raise
    return answer.print(as_json)


def failed(campaign: Campaign, error: LangfordError, as_json: bool) -> None:
    if as_json:
        display.print_json(_document(campaign, RunReport(0, 0.0, None, 0), str(error)))


@dataclass(frozen=True)
class Unfinished:
    """Why a campaign is not finished after a run; ``words``: the reason, and what to do next."""

    campaign: Campaign
    report: RunReport
    code: int
    words: str

    def print(self, as_json: bool) -> int:
        display.say(self.words)
        if as_json:
            display.print_json(_document(self.campaign, self.report, self.words))
        return self.code


def unfinished(campaign: Campaign, report: RunReport, stop: StopSignals) -> Unfinished | None:
    """None when it is finished."""
    advice = f"run the same command again to resume (ledger {campaign.database.where})"
    if stop.received:
        words = f"stopped by {stop.received.name} after {several(report.tasks_here, 'task')}; {advice}"
        return Unfinished(campaign, report, code_of_signal(stop.received), words)
    if report.set_aside:
        words = report.set_aside_words(campaign.name)
        return Unfinished(campaign, report, ExitCode.TASKS_SET_ASIDE, words)
    left = campaign.reader.standing().missing
    if left:
        if not report.tasks_here and report.stopped == OUT_OF_TIME:
            advice = f"give a longer --time-limit to resume (ledger {campaign.database.where})"
        reason = f"stopped at the {report.stopped}" if report.stopped else "other workers hold the rest"
        words = f"{campaign.tasks - left:,} of {several(campaign.tasks, 'task')} done ({reason}); {advice}"
        return Unfinished(campaign, report, ExitCode.INCOMPLETE, words)
    return None


def _document(campaign: Campaign, report: RunReport, reason: str) -> dict[str, object]:
    """``tasks_done`` is null when the ledger does not answer."""
    key, done = campaign.key, None
    with suppress(LedgerError):
        done = campaign.reader.standing().tasks_done
    return {
        "campaign": campaign.name,
        "depth": key.depth,
        "seed": key.seed,
        "problem": key.problem.name,
        "method": key.method,
        "count": None,
        "tasks": campaign.tasks,
        "tasks_done": done,
        "tasks_here": report.tasks_here,
        "set_aside": report.set_aside,
        "stopped": report.stopped,
        "reason": reason,
    }


def answer_of(campaign: Campaign, unconfirmed: bool = False) -> Answer:
    """Arguments and errors as :meth:`langford.ledger.Campaign.count`."""
    count = campaign.count(unconfirmed)
    promise, replication = campaign.reader.promise(), campaign.reader.replication()
    drawn = {"drawn": replication.drawn, "replicated": replication.replicated} if replication.drawn else {}
    more = {**drawn, **promise_document(promise)}
    seconds = campaign.reader.seconds()
    # In a ledger without imports it goes without saying that nothing was promised.
    words = "" if replication.drawn or (promise is not None and not promise.share) else in_words(promise)
    return campaign_answer(campaign.name, campaign.key, count, seconds, more, words)


def campaign_answer(
    name: str,
    key: PlanKey,
    count: Count,
    seconds: float,
    more: Mapping[str, object],
    promise: str,
    first: str = "",
) -> Answer:
    """The count of a campaign as an answer.

    ``promise``: as for :class:`langford.cli.output.answer.Answer`; ``first``: what to do before its tasks can be
    verified, printed when the count is wrong.
    """

    def find() -> str:
        other = advised(key)
        verifying = f"{first}find it with {recomputing(name)}"
        return f"{verifying}, or count with {other}" if other else verifying

    fields = {"campaign": name, "depth": key.depth, "seed": key.seed, **more}
    work = float(plan_of(key).work.sum())
    return Answer(key.problem, key.method, count, seconds, work, "of computation", find, fields, promise=promise)


@contextmanager
def existing(address: str) -> Iterator[Ledger | None]:
    """The ledger at an address, without creating one; None: there is none yet.  Raises LedgerError."""
    try:
        ledger = langford.Ledger(address)
    except NoLedger:
        yield None
        return
    with ledger:
        yield ledger


def resumed(ledger: Ledger | None, new: ChosenPlan, name: str | None, is_new: bool) -> Campaign | None:
    """The campaign that is resumed instead of a new one; None: there is none.

    Where options of a new one are given (``is_new``), it is the one that they describe
    (:meth:`langford.ledger.Ledger.begun`), and a line names each other campaign that has results of the problem.
    """
    if ledger is None:
        return None
    if not is_new:
        return ledger.of_problem(new.problem, new.device)
    begun = ledger.begun(new, name)
    if begun is not None:
        return begun
    for other in ledger.campaigns():
        standing = other.reader.standing() if other.problem == new.problem else None
        if standing is None or not standing.tasks_done:
            continue
        state, advice = "is done", f"`langford result {other.name}` prints its count"
        if standing.unfinished:
            done, share = standing.tasks_done, percent(standing.share_done, 0)
            state = f"is unfinished ({done:,} of {several(other.tasks, 'task')}, {share} of the work)"
            advice = f"`langford run {other.name}` resumes it"
        display.say(f"{other.name} counts the same and {state}: {advice}")
    return None


def planned(
    ledger: Ledger | None, address: str, name: str | None, key: PlanKey, chosen_devices: Sequence[Device]
) -> DryRun:
    """What it would take to complete a campaign."""
    name = name or key.name
    begun = ledger.named(name) if ledger is not None and ledger.has(name) else None
    left, share = len(plan_of(key).tasks), 1.0
    if begun is not None:
        standing = begun.reader.standing()
        left, share = standing.unfinished, 1 - standing.share_done
    state = "would be created" if begun is None else "is resumed"
    what = f"campaign {name} ({state}): {key}"
    cost = Cost.of_count(key.problem, METHODS[key.method], chosen_devices, what, share)
    return DryRun(cost, left, place_of(ledger, address))


def place_of(ledger: Ledger | None, address: str) -> str:
    """``ledger``: None: there is none yet at the address."""
    from db.store.addresses import without_password

    place = without_password(address)
    return place if ledger is not None else f"{place} (would be created)"
