"""``langford slurm submit``, ``keep`` and ``reserve``: campaigns on a SLURM cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from langford.cli.options import chosen_token, device_option, ledger_option, token_option, trust_option
from langford.cli.running import StopSignals, seconds_of

if TYPE_CHECKING:
    from db import Standing

LANGFORD = (sys.executable, "-m", "langford")


@click.group()
def slurm() -> None:
    """Work off campaigns on a SLURM cluster."""


def resource_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What every job asks of the cluster."""
    for decorate in (
        click.option("--dry-run", is_flag=True, help="Print the script, submit nothing."),
        click.option(
            "--logs",
            type=click.Path(path_type=Path),
            default="slurm-logs",
            show_default=True,
            help="Folder for the jobs' output.",
        ),
        click.option(
            "--setup", multiple=True, metavar="LINE", help="Shell before the program, like 'module load …'."
        ),
        click.option("--sbatch", "extra", multiple=True, metavar="OPTION", help="Further option, like --mem=2G."),
        click.option("--qos"),
        click.option("--account"),
        click.option("--cpus", type=click.IntRange(min=1), help="Cores per task."),
        click.option("--gres", help="Generic resources, like gpu:1."),
        click.option(
            "--time",
            "seconds",
            callback=seconds_of,
            required=True,
            metavar="TIME",
            help="Time limit of a job: seconds, MM:SS or HH:MM:SS.",
        ),
        click.option("--partition"),
    ):
        command = decorate(command)
    return command


def array_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What ``submit`` and ``keep`` share."""
    for decorate in (
        resource_options,
        device_option,
        trust_option,
        token_option,
        click.option("--server", metavar="URL", help="Workers talk to this task server, not to the ledger."),
        ledger_option,
        click.option(
            "--max-queued",
            type=click.IntRange(min=1),
            default=256,
            show_default=True,
            help="Array elements waiting or running at any time.",
        ),
        click.argument("campaign"),
    ):
        command = decorate(command)
    return command


@slurm.command(
    epilog="""\b
Examples:
  langford slurm submit langford-27-polyphase-16 --partition best-effort --time 20:00 --dry-run
  langford slurm submit langford-27-polyphase-16 --ledger postgresql://host/records --time 20:00 \\
      --gres gpu:1 --device cuda"""
)
@array_options
def submit(campaign: str, **options: Any) -> None:
    """Fill the queue with workers of a campaign, once."""
    keeper = _keeper(campaign, options)
    if keeper is not None and keeper.top_up() is None:
        print(f"{campaign} is done")


@slurm.command(
    epilog="""\b
Examples:
  langford slurm keep langford-27-polyphase-16 --partition best-effort --max-queued 256 --time 20:00 \\
      --server https://farm:8765 --token-file worker.token

Ctrl-C or SIGTERM end the keeping; the workers go on.  Exit codes: 0 done, 128 + N stopped by signal N."""
)
@array_options
@click.pass_context
def keep(context: click.Context, /, campaign: str, **options: Any) -> None:
    """Keep the queue filled with workers until the campaign is done."""
    from slurm.lock import held

    stop = StopSignals()
    keeper = _keeper(campaign, options, stop.reason)
    if keeper is None:
        return
    with held(options["logs"] / campaign / "keeper.lock"):
        keeper.run()
    if stop.received:
        context.exit(128 + stop.received)
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
@resource_options
def reserve(
    arguments: tuple[str, ...],
    nodes: int,
    tasks_per_node: int,
    launcher: str,
    name: str,
    logs: Path,
    setup: tuple[str, ...],
    dry_run: bool,
    **options: Any,
) -> None:
    """Submit one job that runs `langford mpi ARGUMENTS` on nodes of its own."""
    import shlex

    from slurm import Scheduler, reservation_script

    script = reservation_script(
        name,
        nodes,
        tasks_per_node,
        _resources(options),
        logs.absolute(),
        shlex.split(launcher),
        [*LANGFORD, "mpi", *arguments],
        setup,
    )
    if dry_run:
        print(script, end="")
        return
    logs.mkdir(parents=True, exist_ok=True)
    print(f"job {Scheduler().submit(script)}")


def _resources(options: dict[str, Any]) -> Any:
    from slurm import Resources

    names = ("partition", "gres", "cpus", "account", "qos")
    return Resources(
        int(options["seconds"]), **{name: options[name] for name in names}, extra=tuple(options["extra"])
    )


def _keeper(campaign: str, options: dict[str, Any], stop_reason: Callable[[], str | None] = lambda: None) -> Any:
    """The keeper of a campaign's queue, after the folder for its logs; None after --dry-run."""
    from langford.cli import display
    from slurm import QueueKeeper, Scheduler, array_script

    resources = _resources(options)
    logs = (options["logs"] / campaign).absolute()
    command, standing = (_through_server if options["server"] else _through_ledger)(campaign, options)
    command += ["--time-limit", str(resources.working_seconds), "--device", options["device"]]
    if options["device"] == "cpu":
        command += ["--workers", str(resources.cpus or 1)]

    def script(elements: int) -> str:
        return array_script(campaign, elements, resources, logs, command, options["setup"])

    if options["dry_run"]:
        print(script(options["max_queued"]), end="")
        return None
    logs.mkdir(parents=True, exist_ok=True)
    return QueueKeeper(
        Scheduler(), campaign, script, standing, options["max_queued"], say=display.say, stop_reason=stop_reason
    )


def _through_server(campaign: str, options: dict[str, Any]) -> tuple[list[str], Callable[[], Standing]]:
    """What an element runs, and who knows how far the campaign is."""
    from jobs.client import RemoteCampaign

    url = f"{options['server'].rstrip('/')}/{campaign}"
    server = RemoteCampaign(url, chosen_token(options["token_file"]), options["certificate"])
    files = {name: options[name] for name in ("token_file", "certificate") if options[name]}
    given = [text for name, file in files.items() for text in (f"--{name.replace('_', '-')}", str(file.absolute()))]
    return [*LANGFORD, "work", url, *given], lambda: server.info().standing


def _through_ledger(campaign: str, options: dict[str, Any]) -> tuple[list[str], Callable[[], Standing]]:
    from db import Ledger

    ledger = options["ledger"] if "://" in options["ledger"] else str(Path(options["ledger"]).absolute())
    book = Ledger(ledger)
    record = book.campaign(campaign)
    problem = record.problem
    command = [
        *LANGFORD,
        "run",
        problem.variant,
        str(problem.n),
        "--copies",
        str(problem.copies),
        "--method",
        record.key.method,
        "--depth",
        str(record.key.depth),
        "--name",
        campaign,
        "--ledger",
        ledger,
    ]
    return command, record.standing
