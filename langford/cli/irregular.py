"""``langford irregular``: trees, cycles and graphs, and what they say about our own searches and farms."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from db import Ledger
from jobs.mpi.world import world
from jobs.throughput import Farm, Pipeline, best_streams, launches_per_second, throughput
from langford.cli import display
from langford.cli.exit_codes import ExitCode
from langford.cli.graph500 import print_searches, searched_on_ranks
from langford.cli.lazy import ListingGroup
from langford.cli.options import copies_option, json_option, ledger_option, variant_argument
from langford.cli.parameter_types import FiniteRange, numbers
from langford.devices import CPU, KINDS
from langford.irregular import graph500
from langford.irregular.cycle_files import read_cycle_file
from langford.irregular.cycles import cycle_mean, cycle_ratio
from langford.irregular.errors import require_scipy
from langford.irregular.graph import Graph
from langford.irregular.search_tree import search_sizes
from langford.problem import Problem

one_device_option = click.option(
    "--device", type=click.Choice(KINDS), default=CPU.kind, show_default=True, help="A core, or GPU 0."
)


@click.group(cls=ListingGroup)
def irregular() -> None:
    """Measure searches and farms by trees, cycles and graphs; run Graph500."""
    require_scipy()


@irregular.command(
    epilog="""\b
Examples:
  langford irregular tree langford 12
  langford irregular tree skolem 9 --depth 4 --json"""
)
@variant_argument
@click.argument("n", type=int)
@copies_option
@click.option("--depth", "-p", type=click.IntRange(min=1), help="Describe the levels down to this depth only.")
@one_device_option
@json_option
def tree(variant: str, n: int, copies: int, depth: int | None, device: str, as_json: bool) -> None:
    """Measure the search tree of a problem exactly, by its states.

    Per depth: the tasks that a backtracking plan has there, the different states among them, how much lies below a
    task, and how far the plan's estimate of that is off.  Then the spread of one walk of `langford estimate`.
    """
    problem = Problem.named(variant, n, copies)
    sizes = search_sizes(problem, depth, device)
    if as_json:
        document = {
            "problem": problem.name,
            "arrangements": str(sizes.arrangements),
            "levels": [asdict(level) for level in sizes.levels],
            "walk": asdict(sizes.walk),
        }
        display.print_json(document)
        return
    print(f"{problem}: {sizes.arrangements:,} arrangements")
    table = Table()
    for heading in ("depth", "tasks", "states", "mean below", "sigma", "largest", "error of plan.work"):
        table.add_column(heading, justify="right")
    for level in sizes.levels:
        error = "" if level.work_error is None else f"{level.work_error:.1%}"
        table.add_row(
            f"{level.depth}", f"{level.nodes:,}", f"{level.states:,}", f"{level.mean_below:,.4g}",
            f"{level.sigma_below:,.4g}", f"{level.largest_below:,}", error,
        )  # fmt: skip
    Console().print(table)
    walk = sizes.walk
    if walk.relative_sigma is None:
        print(f"  a walk places {walk.switch} colours at random; there is no arrangement to estimate")
    else:
        print(
            f"  a walk places {walk.switch} colours at random: relative sigma {walk.relative_sigma:.3f}, so "
            f"{walk.walks_for_1_percent:,} walks estimate the count to 1%"
        )


@irregular.command(
    epilog="""\b
Examples:
  langford irregular farm --workers 64 --batch 32 --task-seconds 1
  langford irregular farm langford-24-polyphase-12 --workers 1000 --json
  langford irregular farm --gpu 2,1,3,0.5
  langford irregular farm --gpu 1,0.1,30,0.1,15"""
)
@click.argument("campaign", required=False)
@ledger_option
@click.option(
    "--workers", type=click.IntRange(1, 100_000), help="Default: those that hold leases of CAMPAIGN, or 1."
)
@click.option("--batch", type=click.IntRange(1, 1_000_000), default=1, show_default=True, help="Tasks per lease.")
@click.option("--task-seconds", type=FiniteRange(0), help="Default: the mean of CAMPAIGN's results.")
@click.option(
    "--lease-ms", type=FiniteRange(0), default=4.0, show_default=True, help="The server's work for a lease."
)
@click.option(
    "--result-ms", type=FiniteRange(0), default=4.0, show_default=True, help="The server's work for results."
)
@click.option("--round-trip-ms", type=FiniteRange(0), default=1.0, show_default=True, help="Of the network.")
@click.option(
    "--gpu",
    type=numbers(4, 5),
    metavar="F,C,K,R[,T]",
    help="Instead of a farm: milliseconds to feed a GPU, to copy, of the kernel and of the result; and of the "
    "kernel's tail, beside which the next kernel runs.",
)
@json_option
def farm(
    campaign: str | None,
    address: str,
    workers: int | None,
    batch: int,
    task_seconds: float | None,
    lease_ms: float,
    result_ms: float,
    round_trip_ms: float,
    gpu: list[float] | None,
    as_json: bool,
) -> None:
    """Say what limits a farm of workers, or how many streams keep a GPU busy.

    The farm is a timed event graph; its critical cycle is that of a worker, or that of the server.  A campaign's
    ledger fills in the time of its tasks and the number of its workers.
    """
    if gpu is not None:
        _print_streams(Pipeline(*gpu), as_json)
        return
    if campaign is not None:
        with Ledger(address) as ledger:
            found = ledger.campaign(campaign)
            progress, holders = found.progress(), found.lease_holders()
        done = progress.tasks.get("done", 0)
        if task_seconds is None and done:
            task_seconds = progress.seconds / done
        if workers is None:
            workers = max(1, len(holders))
    if task_seconds is None:
        raise click.UsageError("give --task-seconds, or a campaign with results")
    described = Farm(1 if workers is None else workers, batch, task_seconds, lease_ms, result_ms, round_trip_ms)
    pace = throughput(described)
    if as_json:
        display.print_json({**asdict(described), **pace.document()})
        return
    print(f"{pace.tasks_per_second:,.4g} tasks per second at most with {described.workers:,} workers")
    print(f"  expected    {pace.expected_tasks_per_second:,.4g}, because requests that come at once wait")
    shown = ", ".join(pace.critical[:4]) + (", …" if len(pace.critical) > 4 else "")
    print(f"  limited by  {shown}")
    if pace.saturates_at is not None:
        print(f"  the server is the limit from {pace.saturates_at:,} workers on")


def _print_streams(pipeline: Pipeline, as_json: bool) -> None:
    best = best_streams(pipeline)
    paces = {streams: launches_per_second(pipeline, streams) for streams in range(1, best + 2)}
    if as_json:
        document = [{"streams": streams, "launches_per_second": pace} for streams, pace in paces.items()]
        display.print_json({"best_streams": best, "paces": document})
        return
    for streams, pace in paces.items():
        print(f"{streams} streams: {pace:,.4g} launches per second{' (enough)' if streams == best else ''}")


@irregular.command(
    epilog="""\b
Examples:
  langford irregular cycle edges.txt
  langford irregular cycle edges.txt --maximum --json"""
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--maximum", is_flag=True, help="The largest instead of the least.")
@json_option
def cycle(file: Path, maximum: bool, as_json: bool) -> None:
    """Find the cycle with the least mean weight, or weight per time.

    Each line of FILE is an edge: source, target, weight and, for a ratio, its time.  Vertices are numbers; lines
    that begin with # are remarks.  With whole numbers the answer is exact, and proved.
    """
    edges = read_cycle_file(file)
    graph = Graph.from_edges(len(edges.names), edges.sources, edges.targets)
    weights = edges.weights[graph.order]
    if edges.times is None:
        optimal = cycle_mean(graph, weights, maximum)
    else:
        optimal = cycle_ratio(graph, weights, edges.times[graph.order], maximum)
    optimal.check()
    vertices = edges.names[optimal.vertices].tolist()
    if as_json:
        display.print_json({"value": str(optimal.value), "cycle": vertices, "iterations": optimal.iterations})
        return
    kind = "largest" if maximum else "least"
    print(f"{kind} {'mean' if edges.times is None else 'ratio'}: {optimal.value}")
    print(f"  cycle     {' '.join(map(str, vertices))}")
    print("  checked   the potentials of all vertices prove it on every edge")


@irregular.command(
    epilog="""\b
Examples:
  langford irregular bfs --scale 20
  mpirun -n 4 langford irregular bfs --scale 20 --roots 8 --mpi --json
  mpirun -n 2 langford irregular bfs --scale 27 --mpi --device cuda"""
)
@click.option("--scale", type=click.IntRange(0, 48), required=True, help="The graph has 2^SCALE vertices.")
@click.option("--roots", type=click.IntRange(1, 1_000_000), default=64, show_default=True, help="Searches.")
@click.option("--edgefactor", type=click.IntRange(1, 1024), default=16, show_default=True, help="Edges per vertex.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True)
@click.option("--mpi", "with_mpi", is_flag=True, help="Partition the graph over the ranks of an MPI program.")
@click.option("--rows", type=click.IntRange(min=1), help="With --mpi: rows of blocks, at most.")
@click.option(
    "--device",
    type=click.Choice(KINDS),
    default=CPU.kind,
    show_default=True,
    help="A core, or GPU 0; with --mpi each rank takes a core, or a GPU of its host in turn.",
)
@json_option
@click.pass_context
def bfs(
    context: click.Context,
    scale: int,
    roots: int,
    edgefactor: int,
    seed: int,
    with_mpi: bool,
    rows: int | None,
    device: str,
    as_json: bool,
) -> None:
    """Run the Graph500 benchmark: searches of a random graph, each checked."""
    if rows is not None and not with_mpi:
        raise click.UsageError("--rows arranges the blocks of ranks: give --mpi too, or leave it out")
    if not with_mpi:
        print_searches(graph500(scale, roots, edgefactor, seed, device), {"ranks": 1}, as_json)
        return
    communicator = world()
    outcome = searched_on_ranks(communicator, scale, roots, edgefactor, seed, device, rows)
    if outcome is None:
        context.exit(ExitCode.BAD_INPUT)
    if communicator.rank == 0:
        print_searches(*outcome, as_json)
    context.exit(ExitCode.DONE)
