"""The text of sbatch scripts: pure functions of the command of a job and of its resources.

In both kinds of script the program replaces the batch shell (exec): signals reach the program, and nothing of a
preempted job keeps running.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from db.store.addresses import without_password
from langford.errors import BadInput
from slurm.options import require_further, require_no_directive

DIGITS = 8
"""How many digits of the UUID: campaigns of one name differ in them, and a table of squeue can still be read."""


def job_name(campaign: str, uuid: str) -> str:
    """The name of all jobs of a campaign: its own name is that of other campaigns too, in other ledgers.

    Args:
        campaign: its name.
        uuid: its UUID, of which the first digits are used.

    >>> job_name("l24", "1f2e3d4c-5b6a-4798-8a7b-6c5d4e3f2a1b")
    'l24-1f2e3d4c'
    """
    return f"{campaign}-{uuid[:DIGITS]}"


WARNING_SECONDS = 60
"""Time between SLURM's SIGTERM and the time limit: enough to give leases back."""
MARGIN_SECONDS = 30
"""Time between the end of a worker's work and that signal: the worker has ended when the signal would come."""
MIN_SECONDS = 2 * (WARNING_SECONDS + MARGIN_SECONDS)


@dataclass(frozen=True)
class Resources:
    """The resources that a job asks for; with None the cluster chooses."""

    seconds: int
    partition: str | None = None
    gres: str | None = None  # generic resources, like ``gpu:1``
    cpus: int | None = None  # cores per task
    extra: tuple[str, ...] = ()  # further options of sbatch, like ``--mem=2G``
    folder: Path | None = None  # where the job starts; None: where it is submitted

    @property
    def working_seconds(self) -> int:
        """Seconds after which a worker should have ended; raises BadInput when the time limit is too short."""
        if self.seconds < MIN_SECONDS:
            raise BadInput(
                f"a time limit of {self.seconds} s leaves no time to work: give --time "
                f"{MIN_SECONDS // 60}:{MIN_SECONDS % 60:02} or more"
            )
        return self.seconds - WARNING_SECONDS - MARGIN_SECONDS


def array_script(
    name: str, elements: int, resources: Resources, logs: Path, command: Sequence[str], setup: Sequence[str] = ()
) -> str:
    """The script of an array of equal workers, each of which may be preempted and started again.

    Args:
        name: of the jobs.
        elements: how many workers.
        resources: of each.
        logs: a folder; each element has one file in it, to which a restarted element appends.
        command: the worker, word by word.
        setup: lines of shell before it.

    Raises BadInput.
    """
    options = [
        f"--array=0-{elements - 1}",
        *_resources(resources),
        "--requeue",
        "--open-mode=append",
        f"--signal=B:TERM@{WARNING_SECONDS}",
        f"--output={_plain(str(logs))}/%A_%a.log",
    ]
    return _text(name, resources.extra, options, setup, command)


def reservation_script(
    name: str,
    nodes: int,
    tasks_per_node: int,
    resources: Resources,
    logs: Path,
    command: Sequence[str],
    setup: Sequence[str] = (),
) -> str:
    """The script of one MPI job on whole nodes; raises BadInput.

    Args:
        name: of the job.
        nodes: how many.
        tasks_per_node: ranks on each.
        resources: of the job; the cores are those of each rank.
        logs: a folder for its output.
        command: with what starts the ranks: mpirun, or srun with --mpi.
        setup: lines of shell before it.
    """
    options = [
        f"--nodes={nodes}",
        "--exclusive",
        f"--ntasks-per-node={tasks_per_node}",
        *_resources(resources),
        "--open-mode=append",
        f"--signal=B:TERM@{WARNING_SECONDS}",
        f"--output={_plain(str(logs))}/%j.log",
    ]
    return _text(name, resources.extra, options, setup, command)


def _resources(resources: Resources) -> list[str]:
    minutes, seconds = divmod(resources.seconds, 60)
    values = {
        "partition": resources.partition,
        "time": f"{minutes // 60}:{minutes % 60:02}:{seconds:02}",
        "cpus-per-task": resources.cpus and str(resources.cpus),
        "gres": resources.gres,
        "chdir": resources.folder and str(resources.folder),
    }
    return [f"--{name}={_plain(value)}" for name, value in values.items() if value]


def _text(
    name: str, extra: Sequence[str], options: Sequence[str], setup: Sequence[str], command: Sequence[str]
) -> str:
    for part in (*extra, *options, *setup, *command):
        if "://" in part and without_password(part) != part:
            raise BadInput(
                f"the script of the job would show the password of {without_password(part)}: put it into ~/.pgpass "
                "(or the file that PGPASSFILE names) and leave it out of the address, or export the address as "
                "LANGFORD_LEDGER and give no --ledger"
            )
    for option in extra:
        require_further(option)
    for line in setup:
        require_no_directive(line)
    directives = [f"#SBATCH {option}" for option in (*extra, f"--job-name={_plain(name)}", *options)]
    return "\n".join(["#!/bin/bash", *directives, *setup, f"exec {shlex.join(command)}", ""])


def _plain(text: str) -> str:
    """A value that needs no quotes in a directive."""
    if not re.fullmatch(r"[\w.:,/=@%+\[\]-]+", text):
        raise BadInput(f"{text!r} in a directive of sbatch: use only letters, digits and . : , / = @ % + - _ [ ]")
    return text
