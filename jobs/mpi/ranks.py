"""The ranks of an MPI program as those among which a graph is split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

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
        self.communicator.Allgather(_host(part), received)
        whole[...] = module_of(whole).asarray(received)

    def exchange(self, arrays: list[Array]) -> list[Array]:
        counts = [len(array) for array in arrays]
        sizes = self.communicator.alltoall(counts)
        received = np.empty(sum(sizes), arrays[0].dtype)
        sent = np.concatenate([on_host(array) for array in arrays])
        self.communicator.Alltoallv([sent, counts], [received, sizes])
        xp: Any = module_of(arrays[0])
        return list(xp.split(xp.asarray(received), np.cumsum(sizes)[:-1].tolist()))

    def merge(self, array: Array, by: Operator) -> Array:
        from mpi4py import MPI

        operators = {"or": MPI.BOR, "max": MPI.MAX, "sum": MPI.SUM}
        merged = np.empty(array.shape, array.dtype)
        self.communicator.Allreduce(_host(array), merged, operators[by])
        return module_of(array).asarray(merged)


def _host(array: Array) -> NDArray[Any]:
    return np.ascontiguousarray(on_host(array))
