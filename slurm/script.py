"""The text of sbatch scripts: pure functions of what shall run and with what.

Both kinds of script replace the batch shell by the program (exec): signals reach it, and nothing runs on
beside the job that has displaced it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slurm.errors import BadScript

WARNING_SECONDS = 60
"""SLURM sends SIGTERM so long before the time limit: enough to give leases back."""
MARGIN_SECONDS = 30
"""A worker stops leasing so long before that, so that the signal comes to nothing."""
SHORTEST_SECONDS = 2 * (WARNING_SECONDS + MARGIN_SECONDS)


@dataclass(frozen=True)
class Resources:
    """What a job asks of the cluster; ``None`` leaves a choice to the site."""

    seconds: int
    """Time limit."""
    partition: str | None = None
    gres: str | None = None
    """Generic resources, like ``gpu:1``."""
    cpus: int | None = None
    """Cores per task."""
    account: str | None = None
    qos: str | None = None
    extra: tuple[str, ...] = ()
    """Further options of sbatch, like ``--mem=2G``."""

    @property
    def working_seconds(self) -> int:
        """The time limit that a worker keeps; raises BadScript when too little is left."""
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
