"""``langford work``: a worker of a campaign, of a task server or in a ledger."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from db.identity import Identity
from db.machines import ID_LENGTH
from jobs.console import Console, Step
from jobs.reach.campaign import Campaign
from jobs.reach.join import SUFFIX, is_join_file, joined
from jobs.reach.outbox import Outbox
from jobs.reach.patience import Calls
from jobs.run.loop import Run
from jobs.run.source import LEASE_SECONDS, TaskSource
from langford.cli.exit_codes import ExitCode, StopSignals, code_of_signal
from langford.cli.options.common import (
    json_option,
    ledger_option,
    outbox_folder,
    patience_option,
    refuse_ledger_beside,
)
from langford.cli.options.groups import ComputeOptions, compute_options
from langford.cli.options.types import FiniteRange
from langford.cli.output import display
from langford.cli.output.progress import ProgressLine, Terminal
from langford.methods import plan_of
from langford.methods.speed import speed_here
from langford.words import several


@click.command(
    epilog="""\b
Examples:
  langford work langford-27-polyphase-16.join
  langford work langford-27-polyphase-16.join --device cuda --time-limit 2h
  langford work langford-27-polyphase-16 --ledger postgresql://host/records

SIGTERM, SIGUSR1 and SIGUSR2 end the worker, which gives its leases back.  Exit codes: 0 nothing is
left to do here, and otherwise those of `langford run`."""
)
@click.argument("place", metavar=f"NAME{SUFFIX} | NAME", envvar="LANGFORD_JOIN")
@ledger_option
@click.option(
    "--outbox",
    type=click.Path(path_type=Path),
    envvar="LANGFORD_OUTBOX",
    help="Folder for undelivered results; default: in ~/.local/state/langford.",
)
@compute_options
@patience_option
@click.option(
    "--lease",
    type=FiniteRange(min=1, max=86_400),
    default=LEASE_SECONDS,
    show_default=True,
    help="Seconds from the last renewal of this worker's leases until they expire.",
)
@json_option
@click.pass_context
def work(
    context: click.Context,
    place: str,
    address: str,
    outbox: Path | None,
    computing: ComputeOptions,
    patience: float,
    lease: float,
    as_json: bool,
) -> None:
    """Compute tasks of a campaign that others work on too.

    NAME.join is the file that `langford serve` wrote: it has the server's address, a token, and the certificate to
    trust.  Copy it to any machine that reaches the server, readable by you alone; or name it in LANGFORD_JOIN.  A
    path to such a file has the ending .join or contains a slash; any other NAME is a campaign of the --ledger.  The
    worker of a server ends when its campaign is done; that of a ledger also ends when others hold what is left.
    """
    stop = StopSignals()
    chosen_devices = computing.devices()
    campaign = _reached(context, place, address, Terminal(stop=stop))
    identity = Identity.fresh(chosen_devices)
    line = ProgressLine(campaign.name)
    results = Outbox(outbox_folder(outbox), identity, Terminal(line, stop))
    results.prepare()
    source = TaskSource(campaign, identity, results, Terminal(line, stop), lease)

    beginning = partial(_beginning, campaign.name, source, identity, len(chosen_devices))
    console = WorkerTerminal(line, stop, source, beginning)
    with line.shown():
        report = Run(
            source,
            chosen_devices,
            console,
            computing.time_limit,
            patience=patience,
            probe=lambda key: speed_here(plan_of(key), chosen_devices),
        ).run()
    waiting = source.waiting
    reason = ""
    if stop.received:
        reason = f"stopped by {stop.received.name}: "
    elif report.stopped:
        reason = f"stopped at the {report.stopped}: "
    back = f", {several(report.given_back, 'lease')} given back" if report.given_back else ""
    rest = "" if report.stopped or source.finished else "; other workers hold the rest"
    display.say(f"{reason}{several(report.tasks_here, 'task')} done here{back}{rest}")
    if source.rechecks and not report.stopped:
        waits = several(source.rechecks, "result waits", "results wait")
        display.say(f"{waits} for workers with other tokens")
    if report.set_aside and not report.stopped:
        display.say(report.set_aside_words(campaign.name, where=" on the machine of the ledger"))
    if as_json:
        document = {
            "campaign": campaign.name,
            "tasks_done": report.tasks_here,
            "results_waiting": waiting,
            "set_aside": report.set_aside,
            "given_back": report.given_back,
            "stopped": report.stopped,
        }
        display.print_json(document)
    if stop.received:
        context.exit(code_of_signal(stop.received))
    if report.stopped or waiting:
        context.exit(ExitCode.INCOMPLETE)
    if report.set_aside:
        context.exit(ExitCode.TASKS_SET_ASIDE)


def _reached(context: click.Context, place: str, address: str, console: Console) -> Campaign:
    """The campaign of a join file, or one of a ledger; the connection is closed with the context."""
    if is_join_file(place):
        refuse_ledger_beside("a join file")
        server = joined(Path(place), console)
        context.call_on_close(server.close)
        return server
    # Workers of a server load no SQL.
    from langford.cli.campaigns.opening import campaign_meant
    from langford.ledger import Ledger

    ledger = context.with_resource(Ledger(address))
    return Calls(console).through(campaign_meant([place], ledger).worker)


class WorkerTerminal(Terminal):
    """Shows the progress of a campaign that has other workers too; its first line says who works for what."""

    def __init__(
        self, line: ProgressLine, stop: StopSignals, source: TaskSource, beginning: Callable[[], str]
    ) -> None:
        super().__init__(line, stop)
        self._line, self._source, self._beginning = line, source, beginning

    def show(self, step: Step) -> None:
        if not self._line.has_total:
            self._line.of(self._source.known.tasks, self._source.known.work)
            self.say(self._beginning())
        here = step.tasks_here, step.work_here
        self._line.update(step.tasks_done, step.work_done, step.seconds_left, here)


def _beginning(name: str, source: TaskSource, identity: Identity, processes: int) -> str:
    """The first line of a job's log."""
    tasks = source.known.tasks
    return (
        f"{name} is {source.key}, {source.tally.tasks:,} of {several(tasks, 'task')} done; this is worker "
        f"{identity.worker_id[:ID_LENGTH]} with {several(processes, 'process', 'processes')}"
    )
