"""``langford mpi``: a count or a campaign on the ranks of an MPI program."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

import langford
from jobs.mpi.rank_pool import RankPool, serve
from jobs.mpi.static import count_static
from jobs.mpi.world import device_of, world
from langford.cli.campaigns.running import complete, conclude, create_campaign, existing, resumed
from langford.cli.cluster.ranks import abort, failing_together
from langford.cli.exit_codes import ExitCode, StopSignals
from langford.cli.options.common import device_option, json_option, ledger_option, time_limit_option
from langford.cli.options.groups import CampaignOptions, campaign_options
from langford.cli.output.answer import Answer, count_again, nothing_to_count
from langford.cli.output.how_long import Cost
from langford.devices import CPU, Device
from langford.errors import BadInput, LangfordError
from langford.machine.process import COMPILING
from langford.methods import METHODS, PlanKey, plan_of
from langford.words import several

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm


@click.command(
    epilog="""\b
Examples:
  mpirun -n 4 langford mpi --static 16 --method godfrey --depth 10
  mpirun -n 5 langford mpi 19 --ledger /local/records.db
  mpirun -n 9 langford mpi 24 --device cuda --depth 12

Static: each rank takes its share of the tasks, rank 0 merges, and nothing is kept.  Otherwise rank 0
keeps a campaign in the ledger and gives tasks to the other ranks; running the same command again
resumes it.  Every rank takes one core, or one GPU of its host.  Exit codes: those of `langford run`."""
)
@click.option("--static", is_flag=True, help="Split the tasks by rank, without a ledger.")
@campaign_options
@ledger_option
@device_option
@time_limit_option
@json_option
@click.pass_context
def mpi(
    context: click.Context,
    chosen: CampaignOptions,
    static: bool,
    address: str,
    device: str,
    time_limit: float | None,
    as_json: bool,
) -> None:
    """Count on the ranks of an MPI program, started with mpirun or srun."""
    if static and time_limit is not None:
        raise click.UsageError(
            "--static keeps nothing that a later run could resume: leave --time-limit out, or --static"
        )
    communicator = world()
    if communicator.rank != (0 if static else 1):
        COMPILING.tell(lambda what: None)  # the first rank that computes says it for all
    if not static and communicator.size < 2:
        raise BadInput("rank 0 only distributes tasks: start two or more ranks with mpirun, or use `langford run`")
    try:
        problem = chosen.problem()
        if problem.obstruction:
            # Every rank knows it; one of them prints it.
            answer = nothing_to_count(problem, chosen.method_name)
            context.exit(answer.judged() if communicator.rank else answer.print(as_json))
        new = chosen.plan(Device.parse(device))
    except (LangfordError, click.UsageError):
        # Every rank has the same error; one of them reports it.
        if communicator.rank == 0:
            raise
        context.exit(ExitCode.BAD_INPUT)
    code: int = ExitCode.DONE
    with failing_together(communicator):
        rank_device = device_of(communicator, device, first_computes=static)
        begun, name = None, chosen.name
        if not static:
            if not communicator.rank:
                with existing(address) as found:
                    campaign = resumed(found, new, chosen.name, chosen.is_new)
                if campaign is not None:
                    begun, name = campaign.key, campaign.name
            begun = communicator.bcast(begun)
        key = begun or new.key
        if begun is None and not communicator.rank and Device.parse(device).on_cores:
            cores = [CPU] * (communicator.size - (not static))
            cost = Cost.of_count(new.problem, METHODS[key.method], cores)
            cost.require_consent(chosen.yes, time_limit)
            cost.say()
        if static:
            code = _count_static(communicator, key, rank_device, as_json)
        elif communicator.rank:
            serve(communicator, key, rank_device)
        else:
            with langford.Ledger(address, create=True) as ledger:
                campaign = create_campaign(ledger, key, name, chosen.yes)
                code, ranks_compute = _complete(communicator, campaign, rank_device, time_limit, as_json)
            if ranks_compute:
                abort(communicator, code)  # otherwise the ranks would finish their tasks first
    context.exit(code)


def _count_static(communicator: Intracomm, key: PlanKey, device: Device, as_json: bool) -> int:
    """Rank 0 prints the count; returns the exit code."""
    counted = count_static(communicator, key, device)
    if counted is None:
        return ExitCode.DONE
    count, seconds = counted
    again = partial(count_again, key, device, "on other machines")
    used, more = f"on {several(communicator.size, 'rank')}", {"ranks": communicator.size}
    work = float(plan_of(key).work.sum())
    return Answer(key.problem, key.method, count, seconds, work, used, again, more).print(as_json)


def _complete(
    communicator: Intracomm, campaign: langford.Campaign, device: Device, time_limit: float | None, as_json: bool
) -> tuple[int, bool]:
    """Returns the exit code, and whether other ranks still compute."""
    stop = StopSignals()
    pool = RankPool(communicator)
    devices = [device] * (communicator.size - 1)
    report = complete(campaign, devices, stop, time_limit, pool_of=lambda *_: pool)
    pool.stop()
    code = conclude(campaign, report, stop, as_json)
    return code, bool(stop.received or (report.stopped and pool.in_flight))
