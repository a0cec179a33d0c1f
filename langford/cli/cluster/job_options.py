"""The options of jobs on a SLURM cluster, in groups: the resources of a job, and the campaign of its workers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from langford.cli.options.common import device_option, ledger_option
from langford.cli.options.groups import gathered
from langford.cli.options.types import FORMS, job_duration
from langford.cli.output.display import say
from langford.errors import BadInput
from langford.machine.folders import objection
from slurm import Resources
from slurm.options import without_effect


@dataclass(frozen=True)
class JobOptions:
    """The options of every job; ``logs``: folder for their output."""

    partition: str | None
    seconds: float
    gres: str | None
    cpus: int | None
    extra: tuple[str, ...]
    setup: tuple[str, ...]
    logs: Path
    dry_run: bool

    def resources(self) -> Resources:
        return Resources(
            int(self.seconds),
            self.partition,
            self.gres,
            self.cpus,
            self.extra,
            Path.cwd(),
        )


def say_without_effect(job: JobOptions, script: str) -> None:
    for word in without_effect(job.extra, script):
        say(f"{word} in --sbatch has no effect: langford sets this option itself, see --help")


def make_log_folder(folder: Path) -> None:
    """Make the folder for the output of jobs, unless other users can write to it.

    A cluster opens the files there with the user's rights, and follows links that others have put in their places.
    Raises BadInput or OSError.
    """
    if objection(folder) is None:
        folder.mkdir(parents=True, exist_ok=True)
    # Where others may make folders too, like /tmp, this makes it, for the user alone.
    reason = objection(folder, create=True)
    if reason is not None:
        raise BadInput(
            f"the logs of jobs cannot be kept in {folder}, where other users can plant links to your files: "
            f"{reason}; change that, or choose another folder with --logs"
        )


job_options = gathered(
    "job",
    JobOptions,
    click.option("--partition", help="Partition of the cluster, as for sbatch."),
    click.option(
        "--time",
        "seconds",
        type=job_duration,
        default="1h",
        show_default=True,
        metavar="TIME",
        help=f"Time limit of a job: {FORMS}.",
    ),
    click.option("--gres", help="Generic resources, like gpu:1."),
    click.option("--cpus", type=click.IntRange(min=1), help="Cores per task."),
    click.option(
        "--sbatch",
        "extra",
        multiple=True,
        metavar="OPTION",
        help="Further option for sbatch, like --mem=2G or --account=A.",
    ),
    click.option(
        "--setup",
        multiple=True,
        metavar="LINE",
        help="Shell line to run before the program, like 'module load ...'.",
    ),
    click.option(
        "--logs",
        type=click.Path(path_type=Path),
        default="slurm-logs",
        show_default=True,
        help="Folder for the jobs' output.",
    ),
    click.option("--dry-run", is_flag=True, help="Print the script, submit nothing."),
)


@dataclass(frozen=True)
class QueueOptions:
    max_queued: int  # number of array elements that wait or run at any time
    address: str
    join: Path | None  # to join a task server with; None: the workers use the ledger
    device: str

    @property
    def is_shared(self) -> bool:
        """Whether workers on other machines can open the ledger; raises LedgerUnusable."""
        from db.store.addresses import file_of, url_of

        return file_of(url_of(self.address)) is None


queue_options = gathered(
    "queue",
    QueueOptions,
    click.option(
        "--max-queued",
        type=click.IntRange(min=1),
        default=256,
        show_default=True,
        help="Array elements waiting or running at any time.",
    ),
    ledger_option,
    click.option(
        "--join",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Workers join this task server (`langford serve` writes the file), and do not open the ledger.",
    ),
    device_option,
)
