"""The options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial, wraps
from pathlib import Path
from tempfile import gettempdir
from typing import TypeVar

import click

from jobs.addresses import has_scheme
from jobs.run.limits import PATIENCE_SECONDS
from langford.cli.options.types import FORMS, FiniteRange, device, duration, exact_number, integers, task_duration
from langford.cli.output.display import say
from langford.devices import CPU, KINDS
from langford.errors import BadInput
from langford.machine.cores import cores
from langford.machine.folders import NoHome, base_folder, objection
from langford.methods import METHODS
from langford.words import several

Command = TypeVar("Command", bound=Callable[..., object])

LEDGER = "langford.db"
METHOD_NAMES = click.Choice(list(METHODS))


# -- the problem and its plan -----------------------------------------------------------------

method_option = click.option(
    "--method",
    "method_name",
    type=METHOD_NAMES,
    help="Default: the fastest known for the problem and the device.",
)
depth_option = click.option(
    "--depth",
    "-p",
    type=int,
    help="Task depth; default: that of the campaign if it exists, else one that makes tasks of seconds to minutes.",
)
plan_seed_option = click.option(
    "--seed",
    "plan_seed",
    type=int,
    help="Which sum of shifted2, shifted or necklace to use; each has different partial results and the "
    "same count.  [default: 0]",
)


sample_seed_option = partial(click.option, "--sample-seed", "seed")
"""The seed of a random choice."""
seed_option = sample_seed_option(type=int, help="Make the random choice reproducible.")

# -- where a command computes, and for how long -----------------------------------------------

device_option = click.option(
    "--device",
    type=device,
    default=CPU.kind,
    show_default=True,
    metavar="cpu|cuda|cuda:K",
    shell_complete=lambda context, parameter, begun: [kind for kind in KINDS if kind.startswith(begun)],
    help="Where to compute; cuda takes every GPU, cuda:1 one of them.",
)
kind_option = click.option(
    "--device",
    type=click.Choice(KINDS),
    default=CPU.kind,
    show_default=True,
    help="What most workers compute on; sets the method and depth of a new campaign.",
)
workers_option = click.option(
    "--workers",
    type=click.IntRange(1, 4096),
    help="Cores to use; default: all.",
)
time_limit_option = click.option(
    "--time-limit",
    type=duration,
    metavar="TIME",
    help=f"Stop before this time is over, in seconds or as {FORMS}; no task is started that would probably end "
    "later.",
)
patience_option = click.option(
    "--patience",
    type=duration,
    default=str(int(PATIENCE_SECONDS)),
    show_default=True,
    metavar="TIME",
    help="Kill the process of a task that takes longer than this (in seconds, or as for --time-limit) and "
    "much longer than expected.",
)


def chosen_cores(wanted: int | None) -> int:
    """How many cores to use: those wanted, with a warning when there are fewer; by default all."""
    present = cores()
    if wanted is not None and wanted > present:
        say(
            f"{several(wanted, 'process', 'processes')} on {several(present, 'core')}: each is slower, and all of "
            "them together are not faster"
        )
    return present if wanted is None else wanted


task_time_option = click.option(
    "--task-time",
    type=task_duration,
    metavar="TIME",
    help="Choose the depth so that tasks take up to this time (in seconds, or like 5m) on the benchmarks' device.",
)
yes_option = click.option(
    "--yes", is_flag=True, help="Start even if it takes over an hour or a year, or has over a million tasks."
)

# -- campaigns, ledgers and servers -----------------------------------------------------------


def is_given(parameter: str) -> bool:
    """Whether a parameter is on the command line, and not only in the environment."""
    return click.get_current_context().get_parameter_source(parameter) is click.core.ParameterSource.COMMANDLINE


def is_on_command_line(context: click.Context, parameter: click.Parameter) -> bool:
    return is_given(parameter.name or "") and not context.resilient_parsing


def refuse_ledger_beside(other: str) -> None:
    """Raises UsageError if --ledger is on the command line too."""
    if is_given("address"):
        raise click.UsageError(f"give {other} or --ledger, not both")


def without_open_password(context: click.Context, parameter: click.Parameter, where: str | None) -> str | None:
    """The address of a ledger, unchanged; warns if other users can read its password in the list of processes."""
    if where is not None and is_on_command_line(context, parameter):
        from db.store.addresses import without_password

        if without_password(where) != where:
            say(
                "langford: other users of this machine can read the password in the list of processes: keep it in "
                "~/.pgpass (mode 0600), or the address in LANGFORD_LEDGER"
            )
    return where


name_argument = click.argument("name", metavar="NAME | PROBLEM")
"""Of a command that changes a campaign; a problem of several words is one argument."""
tasks_argument = click.argument("task_lists", nargs=-1, type=integers, metavar="[TASKS]...")
name_option = click.option("--name", help="The campaign's name; default: problem, method and depth.")
_ledger_option = click.option(
    "--ledger",
    "-l",
    "address",
    default=LEDGER,
    show_default=True,
    envvar="LANGFORD_LEDGER",
    callback=without_open_password,
    help="File or database URL.",
)


def _arguments() -> Iterator[str]:
    """The arguments of this command, without its options."""
    context = click.get_current_context()
    for parameter in context.command.params:
        if isinstance(parameter, click.Argument):
            value = context.params.get(parameter.name or "")
            yield from map(str, value if isinstance(value, tuple) else [value])


def ledger_option(command: Command) -> Command:
    """--ledger; without the campaign, the command explains where it was given the address of a server instead."""

    @wraps(command)
    def call(*arguments: object, **values: object) -> object:
        from db.errors import NoLedger, NoSuchCampaign

        try:
            return command(*arguments, **values)
        except (NoLedger, NoSuchCampaign) as error:
            server = next(filter(has_scheme, _arguments()), None)
            if server is None:
                raise
            from db.store.addresses import server_instead

            raise server_instead(server) from error

    decorated: Command = call  # type: ignore[assignment]  # click passes the arguments of the options
    return _ledger_option(decorated)


replicate_option = click.option(
    "--replicate",
    type=FiniteRange(0, 1),
    metavar="SHARE",
    help="Share of the tasks, drawn at random, that workers with other tokens evaluate again, with other "
    "kernels where possible.",
)

unconfirmed_option = click.option(
    "--unconfirmed", is_flag=True, help="Count even if the promised replication (--replicate) is incomplete."
)

# -- signatures -------------------------------------------------------------------------------

sign_option = click.option(
    "--sign",
    "key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="KEY",
    help="Sign the file with this ssh key (ssh-keygen); the signature is FILE.sig.",
)
allowed_signers_option = click.option(
    "--allowed-signers",
    "allowed",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The keys to trust, in the format of ssh-keygen; without it, a key is shown by its fingerprint.",
)

expect_option = click.option(
    "--expect",
    "expected",
    type=exact_number,
    metavar="NUMBER",
    help="Compare the count with this number, in all its digits; exit code 4 if they differ.",
)

verbose_option = click.option("--verbose", "-v", is_flag=True, help="Print each check on a line of its own.")

# -- output -----------------------------------------------------------------------------------


def format_option(names: Iterable[str], default: str) -> Callable[[Command], Command]:
    """--format, without JSON, which --json asks for in all commands; ``default``: its help."""
    offered = click.Choice([name for name in names if name != "json"])
    return click.option("--format", "form", type=offered, help=default)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")


def outbox_folder(named: Path | None, create: bool = True) -> Path:
    """The folder of all outboxes, created if necessary unless ``create`` is false.

    It is in the home folder; in a container, whose user may have none, among the temporary files.  A user who can
    write to it can replace the results that wait there, which are then sent as this worker's.  For a folder that is
    ``named`` there is a warning; any other folder is refused.  Raises BadInput, NoHome or OSError.
    """
    if named is not None:
        reason = None
        with suppress(OSError):  # Outbox.prepare says what is wrong
            reason = objection(named, create, remedy=f"chmod go-w {named}")
        if reason:
            say(f"other users can replace results in {named}, which are then sent as this worker's: {reason}")
        return named
    for folder in _usual_outboxes():
        try:
            reason = objection(folder, create, remedy=f"chmod go-w {folder}")
        except OSError:
            continue
        if create and reason is None and not os.access(folder, os.W_OK | os.X_OK):
            continue  # a file system that is read-only
        if reason:
            raise BadInput(
                f"results cannot be kept in {folder}, where other users can replace them: {reason}, or choose "
                "another folder with --outbox"
            )
        return folder
    raise BadInput("results can be kept neither in the home folder nor among temporary files: give --outbox FOLDER")


def _usual_outboxes() -> Iterator[Path]:
    with suppress(NoHome):
        yield base_folder("XDG_STATE_HOME", ".local/state") / "langford" / "outbox"
    yield Path(gettempdir(), f"langford-{os.geteuid()}", "outbox")
