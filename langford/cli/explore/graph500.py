"""The Graph500 benchmark on the ranks of an MPI program, and its results in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jobs.mpi.device_ranks import ranks_on_gpus
from jobs.mpi.graph500 import graph500_on_ranks
from jobs.mpi.ranks import Ranks
from langford.cli.cluster.ranks import failing_together
from langford.cli.output import display
from langford.devices import KINDS
from langford.irregular.cuda.gpu import Gpu
from langford.irregular.errors import BadGraph, TooLarge
from langford.irregular.graphs.graph500 import Graph500
from langford.kernels.gpu.runtime import NoGpu
from langford.words import several

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm


def searched_on_ranks(
    communicator: Intracomm, scale: int, roots: int, edgefactor: int, seed: int, device: str, rows: int | None
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
            outcome = graph500_on_ranks(ranks, scale, roots, edgefactor, seed, sharing, gpu, rows)
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
