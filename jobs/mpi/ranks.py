"""The ranks of an MPI program as those among which a graph is split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from langford.irregular.arrays import Array, module_of, on_host

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

Operator = Literal["or", "max", "sum"]


class Ranks:
    """The ranks of an MPI communicator: :class:`langford.irregular.graphs.partition.Communicator` in host memory.

    Attributes:
        rank, size: of the communicator.
        exchange_name: how arrays of GPUs travel.
    """

    exchange_name = "host memory"

    def __init__(self, communicator: Intracomm) -> None:
        self.communicator = communicator
        self.rank, self.size = communicator.rank, communicator.size

    def close(self) -> None:
        """Nothing is left open."""

    def split(self, colour: int, key: int) -> Self:
        part: Any = self.communicator.Split(colour, key)
        return type(self)(part)

    def all_gather(self, part: Array, whole: Array) -> None:
        received = np.empty(whole.shape, whole.dtype)
        self.communicator.Allgather(self.reachable(part), received)
        whole[...] = module_of(whole).asarray(received)

    def exchange(self, arrays: list[Array]) -> list[Array]:
        counts = [len(array) for array in arrays]
        sizes = self.communicator.alltoall(counts)
        parts = [self.reachable(array) for array in arrays]
        there: Any = module_of(*parts)
        received, sent = there.empty(sum(sizes), arrays[0].dtype), there.concatenate(parts)
        del parts
        self.settle(sent)
        self.communicator.Alltoallv([sent, counts], [received, sizes])
        here: Any = module_of(*arrays)
        return list(here.split(here.asarray(received), np.cumsum(sizes)[:-1].tolist()))

    def merge(self, array: Array, by: Operator) -> Array:
        from mpi4py import MPI

        operators = {"or": MPI.BOR, "max": MPI.MAX, "sum": MPI.SUM}
        sent = self.reachable(array)
        merged = module_of(sent).empty(array.shape, array.dtype)
        self.settle(sent)
        self.communicator.Allreduce(sent, merged, operators[by])
        return module_of(array).asarray(merged)

    def reachable(self, array: Array) -> Array:
        """The array in one piece, where MPI reads and writes it."""
        return np.ascontiguousarray(on_host(array))

    def settle(self, array: Array) -> None:
        """Wait until an array that is sent is complete: in host memory it is."""
