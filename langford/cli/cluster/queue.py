"""The keeper of a queue, and the job script of its workers: how they reach their campaign."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from db import Ledger, Standing
from db.errors import Away
from db.store.addresses import without_password
from jobs.console import Console
from jobs.reach.campaign import Campaign
from jobs.reach.join import joined
from jobs.reach.patience import Calls
from langford.cli.cluster.job_options import JobOptions, QueueOptions, make_log_folder, say_without_effect
from langford.cli.output import display
from langford.cli.output.how_long import Cost
from langford.devices import CPU, Device
from langford.errors import BadInput
from langford.methods import METHODS, PlanKey
from langford.words import several
from slurm import QueueKeeper, SlurmScheduler, array_script, job_name

LANGFORD = (sys.executable, "-P", "-m", "langford")
"""Without the working folder on Python's path: it may contain a folder with the name of one of our packages."""
Script = Callable[[str, int], str]
"""The script of an array of jobs with a name and a number of workers."""


def print_script(script: str, as_json: bool) -> None:
    if as_json:
        display.print_json({"script": script})
    else:
        print(script, end="")


def keeper_of(
    name: str,
    queue: QueueOptions,
    job: JobOptions,
    as_json: bool,
    console: Console,
) -> QueueKeeper | None:
    """Make the folder for the logs of a campaign and the keeper of its queue.

    With --dry-run nothing is made: the script is printed, and the keeper is None.
    """
    campaign: Campaign
    if queue.join is not None:
        campaign, command = joined(queue.join, console), joining(queue.join)
    else:
        campaign, command = _through_ledger(name, queue, console)
    script = script_of(name, command, queue, job)
    try:
        info = campaign.info()
    except Away as error:
        if job.dry_run:
            raise BadInput(
                f"{error}: the name of the jobs ends in digits that only the server knows; start it with `langford "
                "serve`, or wait until it answers"
            ) from error
        make_log_folder(logs_of(name, job))  # the keeper waits for it
    else:
        if job.dry_run:
            print_jobs(name, info.campaign, info.key, info.standing, script, queue, job, as_json)
            return None
        _say_how_long(info.key, info.standing, queue, job)
        make_log_folder(logs_of(name, job))
    return QueueKeeper(SlurmScheduler(), campaign, script, queue.max_queued, console=console)


def logs_of(name: str, job: JobOptions) -> Path:
    return (job.logs / name).absolute()


def joining(file: Path) -> list[str]:
    """The command of a worker that joins with a file."""
    return [*LANGFORD, "work", str(file.absolute())]


def script_of(name: str, command: Sequence[str], queue: QueueOptions, job: JobOptions) -> Script:
    """Of workers with a command, which gets their limits; raises BadInput for what no script may have."""
    resources, logs = job.resources(), logs_of(name, job)
    command = [*command, "--time-limit", str(resources.working_seconds), "--device", queue.device]
    if Device.parse(queue.device).on_cores:
        command += ["--workers", str(resources.cpus or 1)]

    def script(jobs: str, elements: int) -> str:
        return array_script(jobs, elements, resources, logs, command, job.setup)

    say_without_effect(job, script(name, 1))
    return script


def print_jobs(
    name: str,
    uuid: str,
    key: PlanKey,
    standing: Standing,
    script: Script,
    queue: QueueOptions,
    job: JobOptions,
    as_json: bool,
) -> None:
    """Print the script of the workers that would be submitted for a campaign as it is."""
    workers = min(queue.max_queued, standing.to_do)
    if not workers:
        outcome = {"campaign": name, "done": True, "submitted": 0}
        display.outcome(f"{name} is done: no worker would be submitted", outcome, as_json)
        return
    _say_how_long(key, standing, queue, job)
    print_script(script(job_name(name, uuid), workers), as_json)


def _say_how_long(key: PlanKey, standing: Standing, queue: QueueOptions, job: JobOptions) -> None:
    """On cores, if all of the jobs run at once on cores like those of this machine."""
    if not Device.parse(queue.device).on_cores:
        return
    at_once = [CPU] * ((job.cpus or 1) * max(1, min(queue.max_queued, standing.unfinished)))
    what = f"{several(standing.unfinished, 'task')} left of {key}"
    Cost.of_count(key.problem, METHODS[key.method], at_once, what, 1 - standing.share_done).say()


def _through_ledger(name: str, queue: QueueOptions, console: Console) -> tuple[Campaign, list[str]]:
    campaign = Ledger(queue.address).campaign(name)
    address = queue.address
    command = [*LANGFORD, "work", name]
    # Jobs inherit the environment: an address that comes from it need not be in their script.
    if queue.address != os.environ.get("LANGFORD_LEDGER") or without_password(address) == address:
        command += ["--ledger", address]
    return Calls(console).through(campaign.worker), command
