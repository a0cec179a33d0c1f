"""The Graph500 protocol on the ranks of an MPI program: every rank has a block of the graph."""

from __future__ import annotations

import time

import numpy as np

from langford.errors import CheckFailed
from langford.irregular.cuda.gpu import Gpu
from langford.irregular.graphs.gpu_blocks import SORTED
from langford.irregular.graphs.gpu_partition import PartitionedOnGpu
from langford.irregular.graphs.graph500 import Graph500, Search, check_edges, levels_of, require_joined, roots_among
from langford.irregular.graphs.kronecker import edges_bytes, edges_of, require_scale
from langford.irregular.graphs.partition import Communicator, PartitionedGraph
from langford.irregular.memory import present_bytes, require_memory


def graph500_on_ranks(
    world: Communicator,
    scale: int,
    roots: int = 64,
    edgefactor: int = 16,
    seed: int = 1,
    ranks_here: int = 1,
    gpu: Gpu | None = None,
) -> Graph500:
    """The protocol of langford.irregular.graph500 over all ranks; every rank calls this and gets the results.

    Args:
        scale, roots, edgefactor, seed: of the benchmark; the roots are those of one process.
        ranks_here: how many of the ranks share the memory of this machine, or of the GPU.
        gpu: of this rank, where the graph is made, searched and checked; None: on a core.

    Raises at every rank BadGraph, or TooLarge before anything is generated; CheckFailed at a rank whose edges break
    a rule.
    """
    require_scale(scale, edgefactor)
    edges = edgefactor << scale
    share = edges_bytes(scale, edgefactor) // world.size
    if gpu is None:
        # Edges both ways, sent, sorted and in rows; and arrays of 64 bits over all vertices for the checks.
        needed, present = 30 * share + (64 << scale), present_bytes()
    else:
        # The list, twice that as keys, and rows both ways; what is sorted, six times; the checks.
        needed, present = 5 * share + 48 * min(SORTED, 2 * edges // world.size) + (64 << scale), gpu.free_bytes()
    _require_memory_everywhere(world, scale, needed * ranks_here, present)
    first, last = (edges * rank // world.size for rank in (world.rank, world.rank + 1))
    sources, targets = edges_of(np if gpu is None else gpu.xp, scale, seed, first, last - first)
    if gpu is not None:
        gpu.wait()
    world.merge(np.zeros(1, np.int64), "sum")  # all ranks begin together
    started = time.perf_counter()
    graph: PartitionedGraph | PartitionedOnGpu
    if gpu is None:
        graph = PartitionedGraph(world, 1 << scale, sources, targets)
    else:
        graph = PartitionedOnGpu(gpu, world, 1 << scale, sources, targets)
        gpu.wait()
    construction = time.perf_counter() - started
    chosen = roots_among(graph.connected, roots, seed).tolist()
    graph.gather(graph.search(chosen[0])[0])  # loads the kernels, and connects the ranks
    searches, checking = [], 0.0
    for root in chosen:
        if gpu is not None:
            gpu.wait()
        world.merge(np.zeros(1, np.int64), "sum")
        started = time.perf_counter()
        own, levels = graph.search(root)
        seconds = time.perf_counter() - started
        slowest = world.merge(np.array([seconds]), "max")
        parent = graph.gather(own)
        traversed, joined = check_edges(sources, targets, parent, levels_of(root, parent))
        total = int(world.merge(np.array([traversed], np.int64), "sum")[0])
        require_joined(root, parent, world.merge(joined.view(np.int8), "max") > 0)
        checking += time.perf_counter() - started - seconds
        frontiers = [level.frontier for level in levels]
        if sum(frontiers) != int((parent >= 0).sum()):
            raise CheckFailed(f"the levels from {root} and its tree hold different vertices: search again")
        searches.append(Search(root, sum(frontiers), total, float(slowest[0]), True, frontiers))
    return Graph500(scale, edgefactor, seed, construction, checking, searches)


def _require_memory_everywhere(world: Communicator, scale: int, needed: int, present: int) -> None:
    """Raises TooLarge."""
    least = -int(world.merge(np.array([-present], np.int64), "max")[0])
    require_memory(f"Graph500 at scale {scale} on {world.size} ranks", needed, least)
