"""``langford slurm keep`` and ``reserve``: campaigns on a SLURM cluster."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

from jobs.reach.join import Join
from langford.cli.campaigns.opening import only, opened
from langford.cli.cluster.farm import farmed
from langford.cli.cluster.job_options import (
    JobOptions,
    QueueOptions,
    job_options,
    make_log_folder,
    queue_options,
    say_without_effect,
)
from langford.cli.cluster.queue import LANGFORD, keeper_of, print_script
from langford.cli.exit_codes import StopSignals, code_of_signal
from langford.cli.lazy import ListingGroup
from langford.cli.options.common import json_option, task_time_option
from langford.cli.options.groups import PROBLEM, problem_words
from langford.cli.options.notifying import (
    NotifyOptions,
    last_seconds,
    notified,
    notify_options,
    say_notice,
    watched,
)
from langford.cli.output import display
from langford.cli.output.progress import Terminal
from langford.devices import Device
from langford.errors import BadInput
from langford.ledger import Ledger
from slurm import SlurmScheduler, reservation_script


@click.group(cls=ListingGroup)
def slurm() -> None:
    """Run campaigns on a SLURM cluster."""


@slurm.command(
    epilog="""\b
Examples:
  langford slurm keep 28 --partition best-effort
  langford slurm keep 28 --partition gpus --gres gpu:1 --device cuda --time 20:00 --task-time 2m
  langford slurm keep --join langford-27-polyphase-16.join --partition best-effort --time 20:00
  langford slurm keep langford-27-polyphase-16 --once --ledger postgresql://host/records

Ctrl-C or SIGTERM ends this command; the workers keep running.  Exit codes: 0 done, 128 + N stopped by signal N."""
)
@problem_words(f"{PROBLEM} | NAME")
@queue_options
@job_options
@task_time_option
@click.option(
    "--host", metavar="NAME", help="The name by which the nodes know this machine; default: its host name."
)
@click.option("--once", is_flag=True, help="Submit one job array, then end; needs --join or a Postgres ledger.")
@notify_options
@json_option
@click.pass_context
def keep(
    context: click.Context,
    words: tuple[str, ...],
    queue: QueueOptions,
    job: JobOptions,
    task_time: float | None,
    host: str | None,
    once: bool,
    notify: NotifyOptions,
    as_json: bool,
) -> None:
    """Keep the queue filled with workers until the campaign is done.

    With --join, workers talk to a task server; with a Postgres --ledger, to the database.  Otherwise this is the
    whole farm: it creates the campaign in the ledger, runs its server, keeps the queue, and prints the count.  The
    workers' join file is in the folder --logs, which the nodes must share.  The same command resumes the farm.
    """
    if once:
        _once(_name_of(words, queue, job, task_time), queue, job, as_json)
        return
    stop = StopSignals()
    if not queue.join and not queue.is_shared:
        context.exit(farmed(words, queue, job, task_time, host, notify, as_json, stop))
    if queue.join and notify.given:
        raise click.UsageError("the server sends notifications: give --notify-… to `langford serve`")
    hook = None if queue.join else notify.hook()
    name = _name_of(words, queue, job, task_time)
    keeper = keeper_of(name, queue, job, as_json, Terminal(stop=stop))
    if keeper is None:
        return
    known = [] if queue.join else [Ledger(queue.address).campaign(name)]
    with notified(watched(known), hook, notify.stalled_after, say_notice, lambda: last_seconds(stop)):
        keeper.run(job.logs / name)
    if as_json:
        display.print_json({"campaign": name, "done": stop.received is None})
    if stop.received:
        context.exit(code_of_signal(stop.received))
    if not as_json:
        print(f"{name} is done")


@slurm.command(
    epilog="""\b
Examples:
  langford slurm reserve --nodes 4 --tasks-per-node 16 --time 2:00:00 -- 24
  langford slurm reserve --nodes 2 --time 20:00 --launcher 'srun --mpi=pmi2' -- --static 19"""
)
@click.argument("arguments", nargs=-1, required=True)
@click.option("--nodes", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--tasks-per-node", type=click.IntRange(min=1), default=1, show_default=True, help="MPI ranks per node."
)
@click.option("--launcher", default="mpirun", show_default=True, help="What starts the ranks.")
@click.option("--name", default="langford-mpi", show_default=True, help="The job's name.")
@job_options
@json_option
def reserve(
    arguments: tuple[str, ...],
    nodes: int,
    tasks_per_node: int,
    launcher: str,
    name: str,
    job: JobOptions,
    as_json: bool,
) -> None:
    """Submit one job that runs `langford mpi ARGUMENTS` on whole nodes."""
    command, logs = [*shlex.split(launcher), *LANGFORD, "mpi", *arguments], job.logs.absolute()
    script = reservation_script(name, nodes, tasks_per_node, job.resources(), logs, command, job.setup)
    say_without_effect(job, script)
    if job.dry_run:
        print_script(script, as_json)
        return
    make_log_folder(logs)
    number = SlurmScheduler().submit(script)
    display.outcome(f"job {number}", {"job": number}, as_json)


def _once(name: str, queue: QueueOptions, job: JobOptions, as_json: bool) -> None:
    keeper = keeper_of(name, queue, job, as_json, Terminal())
    if keeper is None:
        return
    submitted = keeper.top_up()
    if as_json:
        display.print_json({"campaign": name, "done": submitted is None, "submitted": submitted or 0})
    elif submitted is None:
        print(f"{name} is done")


def _name_of(words: Sequence[str], queue: QueueOptions, job: JobOptions, task_time: float | None = None) -> str:
    """The name of a server's campaign, or of one in a Postgres ledger, as :func:`opened`; raises BadInput."""
    if queue.join is not None:
        name = Join.read(queue.join).campaign
        if list(words) not in ([], [name]):
            raise BadInput(f"{queue.join} joins the campaign {name}: leave out {' '.join(words)!r:.80}")
        return name
    if not queue.is_shared:
        raise BadInput(
            f"the workers run on other machines, and {queue.address} is a SQLite file of this one: give --join "
            "FILE (see `langford serve`), or a Postgres --ledger; `slurm keep` without --once runs a server too"
        )
    with opened(queue.address, words, Device.parse(queue.device), task_time, job.dry_run) as (_, campaigns):
        return only(campaigns).name
