"""The ranks of an MPI program as those among which a graph is split.

Arrays of GPUs are exchanged by NCCL, in place by an MPI that is CUDA-aware, or through host memory.
"""

from __future__ import annotations

import ctypes
import socket
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from jobs.mpi.world import device_of
from langford.devices import Cuda
from langford.irregular.arrays import Array, module_of, on_gpu, on_host
from langford.irregular.cuda.gpu import Gpu, gpu_by_number
from langford.kernels.gpu.runtime import NoGpu

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


class InPlaceRanks(Ranks):
    """Ranks of an MPI that reads and writes the memory of GPUs."""

    exchange_name = "the CUDA-aware MPI"

    def all_gather(self, part: Array, whole: Array) -> None:
        part = self.reachable(part)
        self.settle(part)
        self.communicator.Allgather(part, whole)

    def reachable(self, array: Array) -> Array:
        return module_of(array).ascontiguousarray(array)

    def settle(self, array: Array) -> None:
        """MPI knows nothing of streams: what is sent must be there, and what is received no longer in use."""
        if on_gpu(array):
            module_of(array).cuda.get_current_stream().synchronize()


class NcclRanks(Ranks):
    """Ranks that have a GPU each: NCCL moves their arrays, without waiting; MPI those of the host."""

    exchange_name = "NCCL"

    def __init__(self, communicator: Intracomm, connections: Any = None) -> None:
        """``connections``: those of NCCL, where the same ranks in the same order have some already."""
        super().__init__(communicator)
        from cupy.cuda import nccl

        self._nccl: Any = nccl
        self._own: list[Any] = []
        if connections is None:
            name = communicator.bcast(nccl.get_unique_id() if self.rank == 0 else None)
            connections = nccl.NcclCommunicator(self.size, name, self.rank)
            self._own.append(connections)
        self._all = connections

    def split(self, colour: int, key: int) -> Self:
        part: Any = self.communicator.Split(colour, key)
        same = min(self.communicator.allgather((part.size, part.rank) == (self.size, self.rank)))
        ranks = type(self)(part, self._all if same else None)
        self._own += ranks.detach()
        return ranks

    def detach(self) -> list[Any]:
        """The connections that were made for this one, which the caller closes."""
        own, self._own = self._own, []
        return own

    def close(self) -> None:
        """Close the connections, those of parts too; all ranks call this when the GPUs have done their work."""
        for connections in self.detach():
            connections.destroy()

    def all_gather(self, part: Array, whole: Array) -> None:
        if not on_gpu(part):
            super().all_gather(part, whole)
            return
        self._all.allGather(part.data.ptr, whole.data.ptr, part.nbytes, self._nccl.NCCL_UINT8, self._stream(part))

    def exchange(self, arrays: list[Array]) -> list[Array]:
        if not on_gpu(arrays[0]):
            return super().exchange(arrays)
        xp: Any = module_of(*arrays)
        sizes = self.communicator.alltoall([len(array) for array in arrays])
        received = [xp.empty(size, arrays[0].dtype) for size in sizes]
        received[self.rank] = arrays[self.rank]
        stream, byte = self._stream(arrays[0]), self._nccl.NCCL_UINT8
        self._nccl.groupStart()
        for rank, (sent, array) in enumerate(zip(arrays, received, strict=True)):
            if rank != self.rank and sent.nbytes:
                self._all.send(sent.data.ptr, sent.nbytes, byte, rank, stream)
            if rank != self.rank and array.nbytes:
                self._all.recv(array.data.ptr, array.nbytes, byte, rank, stream)
        self._nccl.groupEnd()
        return received

    def merge(self, array: Array, by: Operator) -> Array:
        """NCCL has no bitwise or, so those bitmaps are gathered."""
        if not on_gpu(array):
            return super().merge(array, by)
        xp, nccl = module_of(array), self._nccl
        array = xp.ascontiguousarray(array)
        if by == "or":
            first, *others = self.exchange([array.ravel()] * self.size)
            merged = first.copy()
            for other in others:
                merged |= other
            return merged.reshape(array.shape)
        merged = xp.empty_like(array)
        kind = {"int8": nccl.NCCL_INT8, "int32": nccl.NCCL_INT32, "int64": nccl.NCCL_INT64}[array.dtype.name]
        operator = {"max": nccl.NCCL_MAX, "sum": nccl.NCCL_SUM}[by]
        self._all.allReduce(array.data.ptr, merged.data.ptr, array.size, kind, operator, self._stream(array))
        return merged

    def _stream(self, array: Array) -> int:
        xp: Any = module_of(array)
        return int(xp.cuda.get_current_stream().ptr)


@dataclass(frozen=True)
class RanksOnGpus:
    """This rank with its GPU, and how arrays travel between the ranks."""

    ranks: Ranks
    gpu: Gpu
    sharing: int  # how many ranks have one GPU, at most
    why: str  # NCCL is not used; "" if it is


def ranks_on_gpus(communicator: Intracomm) -> RanksOnGpus:
    """Give each rank a GPU of its host.

    Every rank calls this and uses its GPU from now on.  Raises NoGpu at all ranks when one of them has no GPU.
    """
    index, problem = 0, ""
    try:
        index = device_of(communicator, Cuda.kind, True).index
    except NoGpu as error:
        problem = str(error)
    problems = [text for text in communicator.allgather(problem) if text]
    if problems:
        raise NoGpu(problems[0])
    gpu = gpu_by_number(index)
    gpu.xp.cuda.Device(index).use()
    # By its place on the bus: where each rank sees one GPU alone, all of them have the number 0.
    bus = gpu.xp.cuda.Device(index).pci_bus_id
    places = Counter(communicator.allgather((socket.gethostname(), bus)))
    sharing = max(places.values())
    if sharing == 1 and min(communicator.allgather(has_nccl())):
        return RanksOnGpus(NcclRanks(communicator), gpu, sharing, "")
    kind = InPlaceRanks if min(communicator.allgather(is_cuda_aware())) else Ranks
    why = "CuPy has no NCCL here"
    if sharing > 1:
        why = f"{communicator.size} ranks share {len(places)} GPU{'s' * (len(places) > 1)}, which NCCL refuses"
    return RanksOnGpus(kind(communicator), gpu, sharing, f"{why}: bitmaps go through {kind.exchange_name}")


def has_nccl() -> bool:
    with suppress(ImportError, AttributeError, RuntimeError, OSError):
        from cupy.cuda import nccl

        return bool(nccl.available and nccl.get_version())
    return False


def is_cuda_aware() -> bool:
    """Whether the MPI library says that it reads and writes the memory of GPUs."""
    from mpi4py import MPI

    with suppress(OSError, AttributeError):
        # Open MPI and MPICH have this function beside those of the standard; others lack it.
        return bool(ctypes.CDLL(MPI.__file__).MPIX_Query_cuda_support())
    return False
