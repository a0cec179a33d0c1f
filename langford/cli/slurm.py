"""``langford slurm submit``, ``keep`` and ``reserve``: campaigns on a SLURM cluster."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from db import Ledger, Standing
from db.database import without_password
from jobs.farm.client import RemoteCampaign
from langford.cli import display
from langford.cli.exit_codes import code_of_signal
from langford.cli.option_groups import gathered
from langford.cli.options import (
    certificate_option,
    device_option,
    insecure_option,
    ledger_option,
    token_of,
    token_option,
)
from langford.cli.parameter_types import duration
from langford.cli.running import StopSignals
from langford.devices import CPU
from langford.errors import LangfordError
from slurm import QueueKeeper, Resources, SlurmScheduler, array_script, reservation_script
from slurm.lock import held

LANGFORD = (sys.executable, "-P", "-m", "langford")
"""Without the working folder on Python's path: a folder there may be called like one of this program."""


class LedgerOnOneMachine(LangfordError):
    """Workers on other machines cannot use a SQLite file."""


@click.group()
def slurm() -> None:
    """Work off campaigns on a SLURM cluster."""


@dataclass(frozen=True)
class JobOptions:
    """The options of every job.

    Attributes:
        partition: see :class:`slurm.Resources`, like the following fields up to ``extra``.
        seconds: time limit.
        gres: generic resources.
        cpus: cores per task.
        account: the account that pays.
        qos: quality of service.
        extra: further options of sbatch.
        setup: lines of shell before the program.
        logs: folder for the output of the jobs.
        dry_run: whether to print the script and submit nothing.
    """

    partition: str | None
    seconds: float
    gres: str | None
    cpus: int | None
    account: str | None
    qos: str | None
    extra: tuple[str, ...]
    setup: tuple[str, ...]
    logs: Path
    dry_run: bool

    def resources(self) -> Resources:
        """The resources that a job asks for."""
        return Resources(
            int(self.seconds),
            self.partition,
            self.gres,
            self.cpus,
            self.account,
            self.qos,
            self.extra,
            Path.cwd(),
        )


job_options = gathered(
    "job",
    JobOptions,
    click.option("--partition"),
    click.option(
        "--time",
        "seconds",
        type=duration,
        required=True,
        metavar="TIME",
        help="Time limit of a job: seconds, MM:SS or HH:MM:SS.",
    ),
    click.option("--gres", help="Generic resources, like gpu:1."),
    click.option("--cpus", type=click.IntRange(min=1), help="Cores per task."),
    click.option("--account"),
    click.option("--qos"),
    click.option("--sbatch", "extra", multiple=True, metavar="OPTION", help="Further option, like --mem=2G."),
    click.option("--setup", multiple=True, metavar="LINE", help="Shell before the program, like 'module load …'."),
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
    """The options of the workers of a campaign.

    Attributes:
        max_queued: number of array elements that wait or run at any time.
        address: of the ledger, a file or database URL, for workers without a server.
        server: URL of the task server; None: the workers use the ledger.
        token_file: contains the token for the server.
        certificate: of the server, to trust.
        insecure: whether the token may travel without encryption.
        device: "cpu" or "cuda".
    """

    max_queued: int
    address: str
    server: str | None
    token_file: Path | None
    certificate: Path | None
    insecure: bool
    device: str


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
    click.option("--server", metavar="URL", help="Workers talk to this task server, not to the ledger."),
    token_option,
    certificate_option,
    insecure_option,
    device_option,
)


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
def submit(name: str, queue: QueueOptions, job: JobOptions) -> None:
    """Fill the queue with workers of a campaign, once."""
    keeper = _keeper(name, queue, job)
    if keeper is not None and keeper.top_up() is None:
        print(f"{name} is done")


@slurm.command(
    epilog="""\b
Examples:
  langford slurm keep langford-27-polyphase-16 --partition best-effort --max-queued 256 --time 20:00 \\
      --server https://farm:8765 --token-file worker.token

Ctrl-C or SIGTERM end this command; the workers go on.  Exit codes: 0 done, 128 + N stopped by signal N."""
)
@click.argument("name", metavar="CAMPAIGN")
@queue_options
@job_options
@click.pass_context
def keep(context: click.Context, name: str, queue: QueueOptions, job: JobOptions) -> None:
    """Keep the queue filled with workers until the campaign is done."""
    stop = StopSignals()
    keeper = _keeper(name, queue, job, stop.reason)
    if keeper is None:
        return
    with held(job.logs / name / "keeper.lock"):
        keeper.run()
    if stop.received:
        context.exit(code_of_signal(stop.received))
    print(f"{name} is done")


@slurm.command(
    epilog="""\b
Examples:
  langford slurm reserve --nodes 4 --tasks-per-node 16 --time 2:00:00 -- langford 24
  langford slurm reserve --nodes 2 --time 20:00 --launcher 'srun --mpi=pmi2' -- --static langford 19"""
)
@click.argument("arguments", nargs=-1, required=True)
@click.option("--nodes", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--tasks-per-node", type=click.IntRange(min=1), default=1, show_default=True, help="MPI ranks per node."
)
@click.option("--launcher", default="mpirun", show_default=True, help="What starts the ranks.")
@click.option("--name", default="langford-mpi", show_default=True, help="The job's name.")
@job_options
def reserve(
    arguments: tuple[str, ...], nodes: int, tasks_per_node: int, launcher: str, name: str, job: JobOptions
) -> None:
    """Submit one job that runs `langford mpi ARGUMENTS` on whole nodes."""
    command = [*LANGFORD, "mpi", *arguments]
    script = reservation_script(
        name,
        nodes,
        tasks_per_node,
        job.resources(),
        job.logs.absolute(),
        shlex.split(launcher),
        command,
        job.setup,
    )
    if job.dry_run:
        print(script, end="")
        return
    job.logs.mkdir(parents=True, exist_ok=True)
    print(f"job {SlurmScheduler().submit(script)}")


def _keeper(
    name: str, queue: QueueOptions, job: JobOptions, stop_reason: Callable[[], str | None] = lambda: None
) -> QueueKeeper | None:
    """Make the folder for the logs of a campaign and the keeper of its queue.

    With --dry-run nothing is made: the script is printed, and the keeper is None.
    """
    resources = job.resources()
    logs = (job.logs / name).absolute()
    command, standing = (_through_server if queue.server else _through_ledger)(name, queue)
    command += ["--time-limit", str(resources.working_seconds), "--device", queue.device]
    if queue.device == CPU.kind:
        command += ["--workers", str(resources.cpus or 1)]

    def script(elements: int) -> str:
        return array_script(name, elements, resources, logs, command, job.setup)

    if job.dry_run:
        print(script(queue.max_queued), end="")
        return None
    logs.mkdir(parents=True, exist_ok=True)
    return QueueKeeper(
        SlurmScheduler(), name, script, standing, queue.max_queued, say=display.say, stop_reason=stop_reason
    )


def _through_server(name: str, queue: QueueOptions) -> tuple[list[str], Callable[[], Standing]]:
    """The command of a worker that uses a task server, and a function that asks the server for the standing."""
    url = f"{(queue.server or '').rstrip('/')}/{name}"
    server = RemoteCampaign(url, token_of(queue.token_file), queue.certificate, queue.insecure)
    command = [*LANGFORD, "work", url]
    if queue.insecure:
        command.append("--insecure")
    for option, file in (("--token-file", queue.token_file), ("--certificate", queue.certificate)):
        if file:
            command += [option, str(file.absolute())]
    return command, lambda: server.info().standing


def _through_ledger(name: str, queue: QueueOptions) -> tuple[list[str], Callable[[], Standing]]:
    """The command of a worker that opens the ledger, and a function that asks the ledger for the standing."""
    if not queue.address.startswith("postgresql"):
        raise LedgerOnOneMachine(
            f"the workers run on other machines, and {queue.address} is a SQLite file of this one: give --server "
            "URL (see `langford serve`), or a Postgres --ledger"
        )
    address = queue.address if "://" in queue.address else str(Path(queue.address).absolute())
    campaign = Ledger(address).campaign(name)
    key, problem = campaign.key, campaign.problem
    command = [
        *LANGFORD,
        "run",
        problem.variant,
        str(problem.n),
        "--copies",
        str(problem.copies),
        "--method",
        key.method,
        "--depth",
        str(key.depth),
        *(["--seed", str(key.seed)] if key.seed else []),
        "--name",
        name,
    ]
    # Jobs inherit the environment: an address that comes from it need not stand in their script.
    if queue.address != os.environ.get("LANGFORD_LEDGER") or without_password(address) == address:
        command += ["--ledger", address]
    return command, campaign.standing
