"""``langford tasks``, and what puts tasks back into the queue: ``release``, ``retry`` and ``recheck``."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter

import click

from db.errors import LedgerError
from db.machines import worker_name
from db.records import TaskRecord
from db.states import TaskState
from langford.cli.campaigns.opening import campaign_meant, campaign_to_change
from langford.cli.options.common import json_option, ledger_option, name_argument, tasks_argument
from langford.cli.options.groups import PROBLEM, problem_words
from langford.cli.output import display, formats
from langford.cli.output.tables import Sheet, aligned
from langford.errors import BadInput
from langford.ledger import Ledger
from langford.words import several

NAMED = 10
"""The maximum number of workers that a message names."""
COLUMNS = ("task", "state", "partial result", "failures", "seconds", "work")


@click.command(
    epilog="""\b
Examples:
  langford tasks langford-24-polyphase-12
  langford tasks langford-24-polyphase-12 --state set-aside
  langford tasks langford-24-polyphase-12 --state done --json"""
)
@problem_words(f"{PROBLEM} | NAME")
@ledger_option
@click.option("--state", type=click.Choice([state.value for state in TaskState]))
@json_option
def tasks(words: tuple[str, ...], address: str, state: str | None, as_json: bool) -> None:
    """List a campaign's tasks with their results."""
    with (
        Ledger(address) as ledger,
        campaign_meant(words, ledger).reader.reading_tasks(state) as records,
    ):
        if as_json:
            names = [field.name for field in fields(TaskRecord)]
            formats.print_parts(formats.json_array(Sheet(names, map(attrgetter(*names), records))))
        else:
            formats.print_parts(aligned(Sheet(COLUMNS, map(_cells, records), on_terminal=True)))


def _cells(task: TaskRecord) -> tuple[object, ...]:
    return task.index, task.state, task.value, task.failures, task.seconds, task.work


@click.command(
    epilog="""\b
Examples:
  langford release langford-24-polyphase-12
  langford release langford-24-polyphase-12 --worker node17

Running workers continue: they lease other tasks, and results that they deliver later still count."""
)
@name_argument
@click.option(
    "--worker",
    metavar="W",
    help="Only leases of this worker: its host, or 8 or more characters from the start of its UUID.",
)
@ledger_option
@json_option
def release(name: str, worker: str | None, address: str, as_json: bool) -> None:
    """Return leased tasks to the queue; other workers get them at once."""
    with Ledger(address) as ledger:
        campaign = campaign_to_change(name, ledger)
        name = campaign.name
        note = "taken back by the operator"
        holders = campaign.reader.lease_holders(worker)
        if worker is None:
            taken = campaign.operator.take_back(note)
        else:
            if not holders:
                others = campaign.reader.lease_holders()[:NAMED]
                known = [worker_name(other.worker_id, other.host) for other in others]
                raise BadInput(
                    f"no worker {worker!r:.80} holds tasks of {name}; those that do: {', '.join(known) or 'none'}"
                )
            taken = sum(campaign.operator.take_back(note, holder.worker_id) for holder in holders)
    words = f"{several(taken, 'task')} of {name} returned to the queue, from {several(len(holders), 'worker')}"
    display.outcome(words, {"campaign": name, "released": taken, "workers": len(holders)}, as_json)


@click.command(
    epilog="""\b
Examples:
  langford retry langford-24-polyphase-12"""
)
@name_argument
@ledger_option
@json_option
def retry(name: str, address: str, as_json: bool) -> None:
    """Return tasks that were set aside to the queue."""
    with Ledger(address) as ledger:
        campaign = campaign_to_change(name, ledger)
        reopened = campaign.operator.reopen()
    words = f"{several(reopened, 'task')} of {campaign.name} returned to the queue"
    display.outcome(words, {"campaign": campaign.name, "reopened": reopened}, as_json)


@click.command(
    epilog="""\b
Examples:
  langford recheck langford-24-polyphase-12 3 17
  langford recheck langford-24-polyphase-12 --worker node-17
  langford recheck langford-24-polyphase-12 --kernel 0f3a29c4d1e8b765"""
)
@name_argument
@tasks_argument
@click.option(
    "--worker",
    metavar="W",
    help="All results of this worker: its host, or 8 or more characters from the start of its UUID.",
)
@click.option("--kernel", metavar="HASH", help="All results that these kernels computed.")
@click.option("--all", "everything", is_flag=True, help="All results.")
@ledger_option
@json_option
def recheck(
    name: str,
    task_lists: tuple[list[int], ...],
    worker: str | None,
    kernel: str | None,
    everything: bool,
    address: str,
    as_json: bool,
) -> None:
    """Put results in question: other workers must evaluate them again before the merge.

    They no longer count as votes.  Workers of any host may evaluate them again, or `langford verify --waiting`.
    """
    chosen = sorted({index for indices in task_lists for index in indices})
    if sum(map(bool, (chosen, worker, kernel, everything))) != 1:
        raise click.UsageError("choose the results: give exactly one of TASKS, --worker, --kernel or --all")
    with Ledger(address) as ledger:
        campaign = campaign_to_change(name, ledger)
        name = campaign.name
        for index in chosen:
            campaign.plan.require(index)
        questioned = campaign.operator.question(chosen or None, worker, kernel)
    if not questioned:
        raise LedgerError(
            f"{name} has no such result that is not in question already: `langford tasks {name} --json` shows "
            "their hosts and kernels"
        )
    results = f"{several(len(questioned), 'result')} of {name}"
    words = f"{results} put in question: run workers, or `langford verify {name} --waiting`"
    display.outcome(words, {"campaign": name, "questioned": sorted(questioned)}, as_json)
