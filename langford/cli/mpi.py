"""``langford mpi``: a count or a campaign on the ranks of an MPI program."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import click

from langford.cli.options import chosen_key, device_option, json_option, ledger_option, plan_options
from langford.cli.running import StopSignals, conclude, create_campaign, seconds_of, work_off
from langford.errors import LangfordError

BAD_INPUT = 2


@click.command(
    epilog="""\b
Examples:
  mpirun -n 4 langford mpi --static langford 16 --method godfrey --depth 10
  mpirun -n 5 langford mpi langford 19 --ledger /local/records.db
  mpirun -n 9 langford mpi langford 24 --device cuda --depth 12

Static: every rank takes its share of the tasks, rank 0 merges; nothing is kept.  Otherwise rank 0
keeps a campaign in the ledger and hands tasks to the other ranks; running the same command again
resumes it.  Every rank takes one core, or one GPU of its host.  Exit codes as of `langford run`."""
)
@click.option("--static", is_flag=True, help="Split the tasks by rank, without a ledger.")
@plan_options
@ledger_option
@device_option
@click.option(
    "--time-limit", callback=seconds_of, metavar="TIME", help="Stop in good time before: seconds or HH:MM:SS."
)
@json_option
@click.pass_context
def mpi(
    context: click.Context,
    variant: str,
    n: int,
    static: bool,
    copies: int,
    method: str | None,
    depth: int | None,
    name: str | None,
    ledger: str,
    device: str,
    time_limit: float | None,
    as_json: bool,
) -> None:
    """Count on the ranks of an MPI program, started with mpirun or srun."""
    from jobs import mpi as ranks

    communicator = ranks.world()
    if not static and communicator.size < 2:
        raise ranks.SeparateWorlds(
            "rank 0 only hands out tasks: start two ranks or more with mpirun, or use `langford run`"
        )
    try:
        key = chosen_key(variant, n, copies, method, depth)
    except LangfordError:
        # Every rank meets the same error; one says it.
        if communicator.rank == 0:
            raise
        context.exit(BAD_INPUT)
    try:
        own = ranks.device_of(communicator, device, first_computes=static)
        if static:
            code = _static(communicator, key, own, as_json)
        elif communicator.rank:
            ranks.serve(communicator, key, own)
            code = 0
        else:
            code = _hand_out(communicator, key, own, name, ledger, time_limit, as_json)
    except BaseException as error:
        # The other ranks would wait for this one for ever.
        if isinstance(error, LangfordError):
            print(f"langford: rank {communicator.rank}: {error}", file=sys.stderr, flush=True)
            communicator.Abort(BAD_INPUT)
        traceback.print_exc()
        sys.stderr.flush()
        communicator.Abort(1)
        raise
    context.exit(code)


def _static(communicator: Any, key: Any, own: Any, as_json: bool) -> int:
    from jobs import mpi as ranks
    from jobs.evaluation import plan_of
    from langford.cli import display

    counted = ranks.count_static(communicator, key, own)
    if counted is None:
        return 0
    (count, seconds), problem = counted, plan_of(key).problem
    if as_json:
        document = display.count_document(problem, key.method, count, seconds)
        display.print_json({"ranks": communicator.size, **document})
    else:
        display.print_count(problem, key.method, count, seconds, f"on {communicator.size} ranks")
    return 0


def _hand_out(
    communicator: Any, key: Any, own: Any, name: str | None, ledger: str, time_limit: float | None, as_json: bool
) -> int:
    from db import Ledger
    from jobs import mpi as ranks

    stop = StopSignals()
    book = Ledger(ledger, create=True)
    campaign = create_campaign(book, key, name)
    pool = ranks.RankPool(communicator)
    places = [own] * (communicator.size - 1)
    report = work_off(book, campaign, places, stop, time_limit, pool_of=lambda *_: pool)
    pool.stop()
    code = conclude(book, campaign, report, stop, ledger, as_json)
    if stop.received:
        communicator.Abort(code)  # the ranks would first finish their tasks
    return code
