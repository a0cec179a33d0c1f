"""The work of the commands of ``langford irregular``.  It takes a second to load, which their help does without."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jobs.mpi.graph500 import graph500_on_ranks
from jobs.mpi.ranks import Ranks, ranks_on_gpus
from jobs.mpi.world import world
from langford.cli.cluster.ranks import failing_together
from langford.cli.exit_codes import ExitCode
from langford.cli.output import display
from langford.cli.output.tables import Column, table
from langford.devices import KINDS
from langford.errors import BadInput
from langford.irregular import graph500
from langford.irregular.cuda.gpu import Gpu
from langford.irregular.cycles.cycle_files import read_cycle_file
from langford.irregular.cycles.optimal import cycle_mean, cycle_ratio, in_words
from langford.irregular.errors import BadGraph, TooLarge, ZeroTime
from langford.irregular.graphs.graph import Graph
from langford.irregular.graphs.graph500 import Graph500
from langford.irregular.trees.search_tree import search_sizes
from langford.kernels.gpu.runtime import NoGpu
from langford.problem import Problem
from langford.words import several

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm


def tree(problem: Problem, depth: int | None, device: str, as_json: bool) -> None:
    sizes = search_sizes(problem, depth, device)
    if as_json:
        document = {
            "problem": problem.name,
            "count": str(sizes.count),
            "arrangements": str(sizes.arrangements),
            "levels": [asdict(level) for level in sizes.levels],
            "walk": asdict(sizes.walk),
        }
        display.print_json(document)
        return
    print(f"{problem} = {sizes.count:,}")
    columns = {
        "depth": [f"{level.depth}" for level in sizes.levels],
        "tasks": [f"{level.nodes:,}" for level in sizes.levels],
        "states": [f"{level.states:,}" for level in sizes.levels],
        "mean below": [f"{level.mean_below:,.4g}" for level in sizes.levels],
        "sigma": [f"{level.sigma_below:,.4g}" for level in sizes.levels],
        "largest": [f"{level.largest_below:,}" for level in sizes.levels],
        "error of plan.work": [
            "" if level.work_error is None else f"{level.work_error:.1%}" for level in sizes.levels
        ],
    }
    lines = table([Column(heading, cells, True, rank) for rank, (heading, cells) in enumerate(columns.items())])
    print("\n".join(lines))
    walk = sizes.walk
    if walk.relative_sigma is None:
        print(f"  a walk places {walk.switch} colours at random; there is no arrangement to estimate")
    else:
        print(
            f"  a walk places {walk.switch} colours at random: relative sigma {walk.relative_sigma:.3f}, so "
            f"{walk.walks_for_1_percent:,} walks estimate the count to 1%"
        )


def cycle(file: Path, maximum: bool, as_json: bool) -> None:
    edges = read_cycle_file(file)
    graph = Graph.from_edges(len(edges.names), edges.sources, edges.targets)
    weights = edges.weights[graph.order]
    if edges.times is None:
        optimal = cycle_mean(graph, weights, maximum)
    else:
        try:
            optimal = cycle_ratio(graph, weights, edges.times[graph.order], maximum)
        except ZeroTime as error:
            named = in_words(edges.names[error.vertices].tolist())
            raise BadInput(f"{file}: the cycle {named} takes no time: give one of its edges a time") from error
    optimal.check()
    vertices = edges.names[optimal.vertices].tolist()
    if as_json:
        display.print_json({"value": str(optimal.value), "cycle": vertices, "iterations": optimal.iterations})
        return
    kind = "largest" if maximum else "least"
    print(f"{kind} {'mean' if edges.times is None else 'ratio'}: {optimal.value}")
    print(f"  cycle     {' '.join(map(str, vertices))}")
    print("  checked   the potentials of all vertices prove it on every edge")


def bfs(scale: int, roots: int, seed: int, with_mpi: bool, device: str, as_json: bool) -> ExitCode:
    if not with_mpi:
        print_searches(graph500(scale, roots, seed=seed, device=device), {"ranks": 1}, as_json)
        return ExitCode.DONE
    communicator = world()
    outcome = searched_on_ranks(communicator, scale, roots, seed, device)
    if outcome is None:
        return ExitCode.BAD_INPUT
    if communicator.rank == 0:
        print_searches(*outcome, as_json)
    return ExitCode.DONE


def searched_on_ranks(
    communicator: Intracomm, scale: int, roots: int, seed: int, device: str
) -> tuple[Graph500, dict[str, Any]] | None:
    """Run the protocol on all ranks; every rank calls this.

    Returns the results, and what JSON says of the ranks.  An error that all ranks have is raised at rank 0 alone:
    NoGpu, BadGraph or TooLarge; the others return None.  Any other error ends all ranks.
    """
    try:
        with failing_together(communicator, but_for=(NoGpu,)):
            ranks, gpu, sharing = _ranks(communicator, device)
    except NoGpu:
        if communicator.rank == 0:
            raise
        return None
    try:
        with failing_together(communicator, but_for=(BadGraph, TooLarge)):
            outcome = graph500_on_ranks(ranks, scale, roots, seed=seed, ranks_here=sharing, gpu=gpu)
    except (BadGraph, TooLarge):
        ranks.close()
        if communicator.rank == 0:
            raise
        return None
    ranks.close()
    return outcome, {"ranks": ranks.size} | ({} if gpu is None else {"exchange": ranks.exchange_name})


def _ranks(communicator: Intracomm, device: str) -> tuple[Ranks, Gpu | None, int]:
    from mpi4py import MPI

    if KINDS[device].on_cores:
        return Ranks(communicator), None, communicator.Split_type(MPI.COMM_TYPE_SHARED).size
    on_gpus = ranks_on_gpus(communicator)
    if on_gpus.why and communicator.rank == 0:
        display.say(f"langford: {on_gpus.why}")
    return on_gpus.ranks, on_gpus.gpu, on_gpus.sharing


def print_searches(outcome: Graph500, ranks: dict[str, Any], as_json: bool) -> None:
    if as_json:
        display.print_json({**ranks, **outcome.document()})
        return
    seconds = np.array([search.seconds for search in outcome.searches])
    print(f"scale {outcome.scale}, edgefactor {outcome.edgefactor}: {outcome.gteps:.3g} GTEPS (harmonic mean)")
    print(f"  built in  {outcome.construction:.3g} s")
    print(f"  searched  {len(seconds)} times, {np.median(seconds):.3g} s in the median")
    if "exchange" in ranks:
        print(f"  bitmaps   through {ranks['exchange']} among {several(ranks['ranks'], 'rank')}")
    print("  checked   every search, by the benchmark's five rules")
