"""The Graph500 protocol on the ranks of an MPI program: every rank has a block of the graph."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from langford.errors import CheckFailed
from langford.irregular.arrays import present_bytes, require_memory
from langford.irregular.graph500 import Graph500, Search, check_edges, levels_of, require_joined, roots_among
from langford.irregular.kronecker import edges_bytes, kronecker_slice, require_scale
from langford.irregular.partition import Communicator, PartitionedGraph

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm


class Ranks:
    """The ranks of an MPI communicator; implements langford.irregular.partition.Communicator through host memory.

    Attributes:
        rank, size: of the communicator.
    """

    def __init__(self, communicator: Intracomm) -> None:
        self._communicator = communicator
        self.rank, self.size = communicator.rank, communicator.size

    def split(self, colour: int, key: int) -> Self:
        """The ranks of the same colour."""
        part: Any = self._communicator.Split(colour, key)
        return type(self)(part)

    def gather(self, array: NDArray[Any]) -> list[NDArray[Any]]:
        """The arrays of all ranks."""
        sizes = self._communicator.allgather(len(array))
        everything = np.empty(sum(sizes), array.dtype)
        self._communicator.Allgatherv(np.ascontiguousarray(array), [everything, sizes])
        return np.split(everything, np.cumsum(sizes)[:-1])

    def exchange(self, arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """What the other ranks sent to this one."""
        counts = [len(array) for array in arrays]
        sizes = self._communicator.alltoall(counts)
        received = np.empty(sum(sizes), arrays[0].dtype)
        self._communicator.Alltoallv([np.concatenate(arrays), counts], [received, sizes])
        return np.split(received, np.cumsum(sizes)[:-1])

    def merge(self, array: NDArray[Any], by: Literal["or", "max", "sum"]) -> NDArray[Any]:
        """The arrays of all ranks in one."""
        from mpi4py import MPI

        operators = {"or": MPI.BOR, "max": MPI.MAX, "sum": MPI.SUM}
        merged = np.empty_like(array)
        self._communicator.Allreduce(np.ascontiguousarray(array), merged, operators[by])
        return merged


def graph500_on_ranks(
    world: Communicator, scale: int, roots: int = 64, edgefactor: int = 16, seed: int = 1, ranks_here: int = 1
) -> Graph500:
    """The protocol of langford.irregular.graph500 over all ranks; every rank calls this and gets the results.

    Args:
        world: all ranks.
        scale, roots, edgefactor, seed: of the benchmark; the roots are those of one process.
        ranks_here: how many of the ranks share this machine's memory.

    Raises at every rank BadGraph, or TooLarge before anything is generated; CheckFailed at a rank whose edges break
    a rule.
    """
    require_scale(scale, edgefactor)
    # Edges both ways, sent, sorted and in rows; and arrays of 64 bits over all vertices for the checks.
    needed = (20 * edges_bytes(scale, edgefactor) // world.size + (64 << scale)) * ranks_here
    _require_memory_everywhere(world, scale, needed)
    edges = edgefactor << scale
    first, last = (edges * rank // world.size for rank in (world.rank, world.rank + 1))
    sources, targets = kronecker_slice(scale, seed, first, last - first)
    world.merge(np.zeros(1, np.int64), "sum")  # all ranks begin together
    started = time.perf_counter()
    graph = PartitionedGraph(world, 1 << scale, sources, targets)
    construction = time.perf_counter() - started
    chosen = roots_among(graph.connected, roots, seed).tolist()
    graph.search(chosen[0])  # loads the kernels
    searches = []
    for root in chosen:
        world.merge(np.zeros(1, np.int64), "sum")
        started = time.perf_counter()
        own, levels = graph.search(root)
        slowest = world.merge(np.array([time.perf_counter() - started]), "max")
        parent = graph.gather(own)
        traversed, joined = check_edges(sources, targets, parent, levels_of(root, parent))
        total = int(world.merge(np.array([traversed], np.int64), "sum")[0])
        require_joined(root, parent, world.merge(joined.astype(np.int8), "max") > 0)
        frontiers = [level.frontier for level in levels]
        if sum(frontiers) != int((parent >= 0).sum()):
            raise CheckFailed(f"the levels from {root} and its tree hold different vertices: search again")
        searches.append(Search(root, sum(frontiers), total, float(slowest[0]), True, frontiers))
    return Graph500(scale, edgefactor, seed, construction, searches)


def _require_memory_everywhere(world: Communicator, scale: int, needed: int) -> None:
    """Raises TooLarge at every rank when one of them has less memory than needed."""
    present = present_bytes()
    least = -int(world.merge(np.array([-present], np.int64), "max")[0])
    require_memory(f"Graph500 at scale {scale} on {world.size} ranks", needed, least)
