"""``langford mpi``: a count or a campaign on the ranks of an MPI program."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import click

from langford.cli.campaigns import INCOMPLETE, TASKS_SET_ASIDE, StopSignals, _print_result, seconds_of
from langford.cli.options import METHOD_NAMES, device_option, json_option, ledger_option
from langford.errors import LangfordError
from langford.problem import VARIANTS, Problem

BAD_INPUT = 2


@click.command(epilog="""\b
Examples:
  mpirun -n 4 langford mpi --static langford 16 --method godfrey --depth 10
  mpirun -n 5 langford mpi langford 19 --ledger /local/records.db
  mpirun -n 9 langford mpi langford 24 --device cuda --depth 12

Static: every rank takes its share of the tasks, rank 0 merges; nothing is kept.  Otherwise rank 0
keeps a campaign in the ledger and hands tasks to the other ranks; running the same command again
resumes it.  Every rank takes one core, or one GPU of its host.  Exit codes as of `langford run`.""")
@click.argument("variant", type=click.Choice(VARIANTS[:-1]))
@click.argument("n", type=int)
@click.option("--static", is_flag=True, help="Split the tasks by rank, without a ledger.")
@click.option("--copies", "-s", type=int, default=2, show_default=True, help="Cubes of each colour.")
@click.option("--method", type=click.Choice(METHOD_NAMES), help="Default: the fastest that applies.")
@click.option("--depth", "-p", type=int, help="Task depth; default: tasks of seconds to minutes.")
@click.option("--name", help="The campaign's name; default: problem, method and depth.")
@ledger_option
@device_option
@click.option("--time-limit", callback=seconds_of, metavar="TIME",
              help="Stop in good time before: seconds or HH:MM:SS.")
@json_option
@click.pass_context
def mpi(
    context: click.Context, variant: str, n: int, static: bool, copies: int, method: str | None,
    depth: int | None, name: str | None, ledger: str, device: str, time_limit: float | None, as_json: bool,
) -> None:
    """Count on the ranks of an MPI program, started with mpirun or srun."""
    from jobs import mpi as ranks

    communicator = ranks.world()
    if not static and communicator.size < 2:
        raise ranks.SeparateWorlds(
            "rank 0 only hands out tasks: start two ranks or more with mpirun, or use `langford run`"
        )
    try:
        key = _key(variant, n, copies, method, depth)
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


def _key(variant: str, n: int, copies: int, method: str | None, depth: int | None) -> Any:
    from jobs.evaluation import PlanKey, plan_of
    from langford.methods import default_method, find_method

    problem = Problem.named(variant, n, copies)
    way = find_method(method, problem) if method else default_method(problem)
    key = PlanKey(problem.name, way.name, way.suggested_depth(problem) if depth is None else depth)
    plan_of(key)
    return key


def _static(communicator: Any, key: Any, own: str, as_json: bool) -> int:
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
    communicator: Any, key: Any, own: str, name: str | None, ledger: str, time_limit: float | None, as_json: bool
) -> int:
    from db import Ledger
    from jobs import mpi as ranks
    from jobs.campaign import CampaignRun, Step
    from jobs.evaluation import plan_of
    from langford.cli import display

    stop = StopSignals()
    plan = plan_of(key)
    book = Ledger(ledger, create=True)
    campaign = book.create_campaign(
        name or f"{key.problem}-{key.method}-{key.depth}", plan.problem, key.method, key.depth, plan.work.tolist()
    )
    line = display.ProgressLine(campaign.name, campaign.work, campaign.tasks)
    pool = ranks.RankPool(communicator)

    def tell(step: Step) -> None:
        line.update(step.tasks_done, step.work_done, step.work_here, step.seconds_here)
        if step.message:
            line.remark(step.message)

    with line.shown():
        places = [own] * (communicator.size - 1)
        report = CampaignRun(book, campaign, places, tell, stop.reason, time_limit, lambda *_: pool).run()
    if stop.received:
        display.say(f"stopped by {stop.received.name} after {report.tasks_here} tasks; run it again to go on")
        communicator.Abort(128 + stop.received)
    pool.stop()
    if report.set_aside:
        display.say(f"{report.set_aside} tasks failed too often; see `langford tasks {campaign.name}`")
        return TASKS_SET_ASIDE
    left = campaign.tasks - book.progress(campaign).tasks.get("done", 0)
    if left:
        display.say(f"{left} of {campaign.tasks} tasks are left; run the same command again to go on")
        return INCOMPLETE
    _print_result(book, campaign.name, as_json)
    return 0
