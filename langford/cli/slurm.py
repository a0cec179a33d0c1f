"""``langford slurm submit``, ``keep`` and ``reserve``: campaigns on a SLURM cluster."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from db import Ledger, Standing
from jobs.farm.client import RemoteCampaign
from langford.cli import display
from langford.cli.exit_codes import code_of_signal
from langford.cli.option_groups import gathered
from langford.cli.options import certificate_option, device_option, ledger_option, token_of, token_option
from langford.cli.parameter_types import duration
from langford.cli.running import StopSignals
from langford.devices import CPU
from slurm import QueueKeeper, Resources, SlurmScheduler, array_script, reservation_script
from slurm.lock import held

LANGFORD = (sys.executable, "-m", "langford")


@click.group()
def slurm() -> None:
    """Work off campaigns on a SLURM cluster."""


@dataclass(frozen=True)
class JobOptions:
    """What every job asks of the cluster; see slurm.Resources.

    Attributes:
        setup: lines of shell before the program.
        logs: folder for the jobs' output.
        dry_run: print the script and submit nothing.
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
        """The part that the scheduler reads."""
        return Resources(
            int(self.seconds), self.partition, self.gres, self.cpus, self.account, self.qos, self.extra
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
    """How the workers of a campaign reach it, and how many there are.

    Attributes:
        max_queued: array elements waiting or running at any time.
        address: of the ledger, a file or database URL, for workers without a server.
        server: URL of the task server; None: the workers use the ledger.
        token_file: holds the server's token.
        certificate: of the server, to trust.
        device: "cpu" or "cuda".
    """

    max_queued: int
    address: str
    server: str | None
    token_file: Path | None
    certificate: Path | None
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
    device_option,
)


@slurm.command(
    epilog="""\b
Examples:
  langford slurm submit langford-27-polyphase-16 --partition best-effort --time 20:00 --dry-run
  langford slurm submit langford-27-polyphase-16 --ledger postgresql://host/records --time 20:00 \\
      --gres gpu:1 --device cuda"""
)
@click.argument("campaign")
@queue_options
@job_options
def submit(campaign: str, queue: QueueOptions, job: JobOptions) -> None:
    """Fill the queue with workers of a campaign, once."""
    keeper = _keeper(campaign, queue, job)
    if keeper is not None and keeper.top_up() is None:
        print(f"{campaign} is done")


@slurm.command(
    epilog="""\b
Examples:
  langford slurm keep langford-27-polyphase-16 --partition best-effort --max-queued 256 --time 20:00 \\
      --server https://farm:8765 --token-file worker.token

Ctrl-C or SIGTERM end the keeping; the workers go on.  Exit codes: 0 done, 128 + N stopped by signal N."""
)
@click.argument("campaign")
@queue_options
@job_options
@click.pass_context
def keep(context: click.Context, campaign: str, queue: QueueOptions, job: JobOptions) -> None:
    """Keep the queue filled with workers until the campaign is done."""
    stop = StopSignals()
    keeper = _keeper(campaign, queue, job, stop.reason)
    if keeper is None:
        return
    with held(job.logs / campaign / "keeper.lock"):
        keeper.run()
    if stop.received:
        context.exit(code_of_signal(stop.received))
    print(f"{campaign} is done")


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
    """Submit one job that runs `langford mpi ARGUMENTS` on nodes of its own."""
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
    campaign: str, queue: QueueOptions, job: JobOptions, stop_reason: Callable[[], str | None] = lambda: None
) -> QueueKeeper | None:
    """The keeper of a campaign's queue, after the folder for its logs; None after --dry-run."""
    resources = job.resources()
    logs = (job.logs / campaign).absolute()
    command, standing = (_through_server if queue.server else _through_ledger)(campaign, queue)
    command += ["--time-limit", str(resources.working_seconds), "--device", queue.device]
    if queue.device == CPU.kind:
        command += ["--workers", str(resources.cpus or 1)]

    def script(elements: int) -> str:
        return array_script(campaign, elements, resources, logs, command, job.setup)

    if job.dry_run:
        print(script(queue.max_queued), end="")
        return None
    logs.mkdir(parents=True, exist_ok=True)
    return QueueKeeper(
        SlurmScheduler(), campaign, script, standing, queue.max_queued, say=display.say, stop_reason=stop_reason
    )


def _through_server(campaign: str, queue: QueueOptions) -> tuple[list[str], Callable[[], Standing]]:
    """The command of a worker of the task server, and how to ask the server how far the campaign is."""
    url = f"{(queue.server or '').rstrip('/')}/{campaign}"
    server = RemoteCampaign(url, token_of(queue.token_file), queue.certificate)
    command = [*LANGFORD, "work", url]
    for option, file in (("--token-file", queue.token_file), ("--certificate", queue.certificate)):
        if file:
            command += [option, str(file.absolute())]
    return command, lambda: server.info().standing


def _through_ledger(campaign: str, queue: QueueOptions) -> tuple[list[str], Callable[[], Standing]]:
    """The command of a worker that uses the ledger itself, and how to ask the ledger how far the campaign is."""
    address = queue.address if "://" in queue.address else str(Path(queue.address).absolute())
    record = Ledger(address).campaign(campaign)
    key, problem = record.key, record.problem
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
        "--name",
        campaign,
        "--ledger",
        address,
    ]
    return command, record.standing
