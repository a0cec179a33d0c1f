"""The text of sbatch scripts: pure functions of the command that a job runs and the resources that it asks for.

Both kinds of script replace the batch shell by the program (exec): signals reach the program, and nothing of
a preempted job goes on running.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slurm.errors import BadScript

WARNING_SECONDS = 60
"""How long before the time limit SLURM sends SIGTERM: enough to give leases back."""
MARGIN_SECONDS = 30
"""How long before that signal a worker stops leasing, so that it has ended when the signal would come."""
SHORTEST_SECONDS = 2 * (WARNING_SECONDS + MARGIN_SECONDS)


@dataclass(frozen=True)
class Resources:
    """What a job asks of the cluster; ``None`` leaves a choice to the site.

    Attributes:
        seconds: time limit.
        partition: queue of the cluster.
        gres: generic resources, like ``gpu:1``.
        cpus: cores per task.
        account: who is charged.
        qos: quality of service.
        extra: further options of sbatch, like ``--mem=2G``.
    """

    seconds: int
    partition: str | None = None
    gres: str | None = None
    cpus: int | None = None
    account: str | None = None
    qos: str | None = None
    extra: tuple[str, ...] = ()

    @property
    def working_seconds(self) -> int:
        """Seconds after which a worker should have ended; raises BadScript when too few are left."""
        if self.seconds < SHORTEST_SECONDS:
            raise BadScript(
                f"a time limit of {self.seconds} s leaves no time to work: give --time {SHORTEST_SECONDS} or more"
            )
        return self.seconds - WARNING_SECONDS - MARGIN_SECONDS


def array_script(
    name: str, elements: int, resources: Resources, logs: Path, command: Sequence[str], setup: Sequence[str] = ()
) -> str:
    """An array of ``elements`` equal workers, each of which may be preempted and started again.

    Args:
        name: of the job.
        elements: how many workers.
        resources: what each worker asks for.
        logs: folder of their output, one file per element, continued when it starts again.
        command: the worker and its arguments.
        setup: lines of shell before it, like ``module load cuda``.

    Raises BadScript.
    """
    options = [
        f"--array=0-{elements - 1}",
        *_resources(resources),
        "--requeue",
        "--open-mode=append",
        f"--signal=B:TERM@{WARNING_SECONDS}",
        f"--output={_plain(str(logs))}/%A_%a.log",
    ]
    return _text(name, options, setup, command)


def reservation_script(
    name: str,
    nodes: int,
    tasks_per_node: int,
    resources: Resources,
    logs: Path,
    launcher: Sequence[str],
    command: Sequence[str],
    setup: Sequence[str] = (),
) -> str:
    """One MPI job on its own nodes: ``launcher`` (mpirun, or srun with an --mpi) starts ``command``."""
    options = [
        f"--nodes={nodes}",
        f"--ntasks-per-node={tasks_per_node}",
        *_resources(resources),
        "--open-mode=append",
        f"--signal=B:TERM@{WARNING_SECONDS}",
        f"--output={_plain(str(logs))}/%j.log",
    ]
    return _text(name, options, setup, [*launcher, *command])


def _resources(resources: Resources) -> list[str]:
    minutes, seconds = divmod(resources.seconds, 60)
    chosen = {
        "partition": resources.partition,
        "account": resources.account,
        "qos": resources.qos,
        "time": f"{minutes // 60}:{minutes % 60:02}:{seconds:02}",
        "cpus-per-task": resources.cpus and str(resources.cpus),
        "gres": resources.gres,
    }
    for option in resources.extra:
        if not option.startswith("--"):
            raise BadScript(f"{option!r} is no option of sbatch: write it like --mem=2G")
    return [f"--{key}={_plain(value)}" for key, value in chosen.items() if value] + list(resources.extra)


def _text(name: str, options: Sequence[str], setup: Sequence[str], command: Sequence[str]) -> str:
    for option in options:
        if "\n" in option:
            raise BadScript(f"an option of sbatch is one line, unlike {option!r}")
    directives = [f"#SBATCH --job-name={_plain(name)}", *(f"#SBATCH {option}" for option in options)]
    return "\n".join(["#!/bin/bash", *directives, *setup, f"exec {shlex.join(command)}", ""])


def _plain(text: str) -> str:
    """A value that needs no quotes in a directive."""
    if not re.fullmatch(r"[\w.:,/=@%+\[\]-]+", text):
        raise BadScript(f"{text!r} in a directive of sbatch: use letters, digits and . : , / = @ % + - _ only")
    return text
