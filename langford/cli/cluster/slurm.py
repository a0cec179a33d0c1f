"""``langford slurm submit``, ``keep`` and ``reserve``: campaigns on a SLURM cluster."""

from __future__ import annotations

import os
import shlex
import sys

import click

import db
from db import Ledger, Standing
from db.errors import Away
from db.store.database import without_password
from jobs.console import Console
from jobs.reach.campaign import Campaign
from jobs.reach.patience import Calls
from langford.cli.cluster.job_options import JobOptions, QueueOptions, job_options, make_log_folder, queue_options
from langford.cli.exit_codes import StopSignals, code_of_signal
from langford.cli.lazy import ListingGroup
from langford.cli.options.common import json_option
from langford.cli.options.notifying import NotifyOptions, last_seconds, notified, notify_options, say_notice
from langford.cli.output import display
from langford.cli.output.how_long import Cost
from langford.cli.output.progress import Terminal
from langford.devices import CPU, Device
from langford.errors import BadInput
from langford.methods import METHODS, PlanKey
from langford.words import several
from slurm import QueueKeeper, SlurmScheduler, array_script, job_name, reservation_script

LANGFORD = (sys.executable, "-P", "-m", "langford")
"""Without the working folder on Python's path: it may contain a folder with the name of one of our packages."""


@click.group(cls=ListingGroup)
def slurm() -> None:
    """Run campaigns on a SLURM cluster."""


@slurm.command(
    epilog="""\b
Examples:
  langford slurm submit langford-27-polyphase-16 --partition best-effort --time 20:00 --dry-run
  langford slurm submit langford-27-polyphase-16 --ledger postgresql://host/records --time 20:00 \\
      --gres gpu:1 --device cuda"""
)
@click.argument("name", metavar="CAMPAIGN")
@queue_options
@job_options
@json_option
def submit(name: str, queue: QueueOptions, job: JobOptions, as_json: bool) -> None:
    """Fill the queue with workers of a campaign, once."""
    keeper = _keeper(name, queue, job, as_json)
    if keeper is None:
        return
    submitted = keeper.top_up()
    if as_json:
        display.print_json({"campaign": name, "done": submitted is None, "submitted": submitted or 0})
    elif submitted is None:
        print(f"{name} is done")


@slurm.command(
    epilog="""\b
Examples:
  langford slurm keep langford-27-polyphase-16 --partition best-effort --max-queued 256 --time 20:00 \\
      --server https://farm:8765 --token-file worker.token

Ctrl-C or SIGTERM ends this command; the workers keep running.  Exit codes: 0 done, 128 + N stopped by signal N."""
)
@click.argument("name", metavar="CAMPAIGN")
@queue_options
@job_options
@notify_options
@json_option
@click.pass_context
def keep(
    context: click.Context, name: str, queue: QueueOptions, job: JobOptions, notify: NotifyOptions, as_json: bool
) -> None:
    """Keep the queue filled with workers until the campaign is done."""
    if queue.server and notify.given:
        raise click.UsageError("the server sends notifications: give --notify-… to `langford serve`")
    stop, hooks = StopSignals(), notify.hooks() if not queue.server else []
    keeper = _keeper(name, queue, job, as_json, stop)
    if keeper is None:
        return
    known = [] if queue.server else [_campaign_of(name, queue)]
    with notified(known, hooks, notify.stalled_after, say_notice, lambda: last_seconds(stop)):
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
    if job.dry_run:
        _print_script(script, as_json)
        return
    make_log_folder(logs)
    number = SlurmScheduler().submit(script)
    display.outcome(f"job {number}", {"job": number}, as_json)


def _print_script(script: str, as_json: bool) -> None:
    if as_json:
        display.print_json({"script": script})
    else:
        print(script, end="")


def _keeper(
    name: str,
    queue: QueueOptions,
    job: JobOptions,
    as_json: bool,
    stop: StopSignals | None = None,
) -> QueueKeeper | None:
    """Make the folder for the logs of a campaign and the keeper of its queue.

    With --dry-run nothing is made: the script is printed, and the keeper is None.
    """
    resources = job.resources()
    logs = (job.logs / name).absolute()
    console = Terminal(stop=stop)
    campaign, command = (_through_server if queue.server else _through_ledger)(name, queue, console)
    command += ["--time-limit", str(resources.working_seconds), "--device", queue.device]
    on_cores = Device.parse(queue.device).on_cores
    if on_cores:
        command += ["--workers", str(resources.cpus or 1)]

    def script(jobs: str, elements: int) -> str:
        return array_script(jobs, elements, resources, logs, command, job.setup)

    script(name, 1)  # what is refused in it is refused now
    try:
        info = campaign.info()
    except Away as error:
        if job.dry_run:
            raise BadInput(
                f"{error}: the name of the jobs ends in digits that only the server knows; start it with `langford "
                "serve`, or wait until it answers"
            ) from error
        make_log_folder(logs)  # the keeper waits for it
    else:
        if on_cores:
            _say_how_long(info.key, info.standing, queue.max_queued, resources.cpus or 1)
        if job.dry_run:
            _print_script(script(job_name(name, info.campaign), queue.max_queued), as_json)
            return None
        make_log_folder(logs)
    return QueueKeeper(SlurmScheduler(), campaign, script, queue.max_queued, console=console)


def _say_how_long(key: PlanKey, standing: Standing, jobs: int, cores: int) -> None:
    """If all of the jobs run at once on cores like those of this machine."""
    share = 1 - standing.work_done / (sum(standing.work.values()) or 1.0)
    at_once = [CPU] * (cores * max(1, min(jobs, standing.unfinished)))
    what = f"{several(standing.unfinished, 'task')} left of {key}"
    Cost.of_count(key.problem, METHODS[key.method], at_once, what, share).say()


def _through_server(name: str, queue: QueueOptions, console: Console) -> tuple[Campaign, list[str]]:
    url = f"{(queue.server or '').rstrip('/').removesuffix(f'/{name}')}/{name}"
    server, access = queue.access.server(url, console), queue.access
    command = [*LANGFORD, "work", url]
    if access.insecure:
        command.append("--insecure")
    for option, file in (("--token-file", access.token_file), ("--certificate", access.certificate)):
        if file:
            command += [option, str(file.absolute())]
    return server.campaign(), command


def _campaign_of(name: str, queue: QueueOptions) -> db.Campaign:
    return Ledger(queue.address).campaign(name)


def _through_ledger(name: str, queue: QueueOptions, console: Console) -> tuple[Campaign, list[str]]:
    if not queue.address.startswith("postgresql"):
        raise BadInput(
            f"the workers run on other machines, and {queue.address} is a SQLite file of this one: give --server "
            "URL (see `langford serve`), or a Postgres --ledger"
        )
    campaign = _campaign_of(name, queue)
    address = queue.address
    command = [
        *LANGFORD,
        "run",
        *campaign.key.arguments,
        "--name",
        name,
        *(["--anyway"] if campaign.problem.obstruction else []),
    ]
    # Jobs inherit the environment: an address that comes from it need not be in their script.
    if queue.address != os.environ.get("LANGFORD_LEDGER") or without_password(address) == address:
        command += ["--ledger", address]
    return Calls(console).through(campaign), command
