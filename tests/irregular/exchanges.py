"""A program for mpirun: the exchanges among ranks, each against what all ranks know that they have.

    mpirun -n 3 python tests/irregular/exchanges.py {host|place|device|nccl} ...

``host``: arrays of NumPy through MPI.  ``place``: the exchange for a CUDA-aware MPI, given arrays that any MPI can
reach, NumPy's.  ``device``, ``nccl``: arrays of CuPy through host memory, and by NCCL.
"""

from __future__ import annotations

import sys
from functools import reduce
from typing import Any

import numpy as np
from mpi4py import MPI

from jobs.mpi.ranks import InPlaceRanks, NcclRanks, Ranks, ranks_on_gpus
from langford.irregular.arrays import on_host


def check(ranks: Ranks, xp: Any) -> None:
    """Fails unless every exchange brings what the others sent."""
    size, rank = ranks.size, ranks.rank
    for kind in (np.int32, np.int64, np.uint32):
        whole = xp.zeros(3 * size, kind)
        ranks.all_gather(xp.arange(3, dtype=kind) + 10 * rank, whole)
        assert on_host(whole).tolist() == [10 * other + place for other in range(size) for place in range(3)]
    # Rank a sends b copies of a to rank b, so rank 0 gets nothing.
    received = ranks.exchange([xp.full(other, rank, np.int64) for other in range(size)])
    assert [on_host(part).tolist() for part in received] == [[other] * rank for other in range(size)]
    assert {type(part) for part in received} == {type(whole)}
    operators: dict[Any, Any] = {"sum": np.add, "max": np.maximum, "or": np.bitwise_or}
    for kind in (np.int8, np.int32, np.int64):
        parts = [(np.arange(5) * (other + 3) % 7).astype(kind) for other in range(size)]
        for by, operator in operators.items():
            merged = ranks.merge(xp.asarray(parts[rank]), by)
            assert on_host(merged).tolist() == reduce(operator, parts).tolist()
            assert (type(merged), merged.dtype) == (type(whole), kind)
    # Numbers of the host go along, whatever the device.
    assert ranks.merge(np.array([rank]), "sum").tolist() == [size * (size - 1) // 2]


class Settled(InPlaceRanks):
    """Counts what is waited for before it is sent."""

    sends = 0

    def settle(self, array: Any) -> None:
        super().settle(array)
        Settled.sends += 1


def check_all(kind: str) -> None:
    """Check the ranks, parts of them in another order, and the same ones again."""
    xp, ranks = np, Ranks(MPI.COMM_WORLD)
    if kind == "place":
        ranks = Settled(MPI.COMM_WORLD)
    elif kind != "host":
        on_gpus = ranks_on_gpus(MPI.COMM_WORLD)
        xp = on_gpus.gpu.xp
        ranks = on_gpus.ranks if kind == "nccl" else ranks
        assert (type(ranks) is NcclRanks) == (kind == "nccl")
    check(ranks, xp)
    assert Settled.sends == (14 if kind == "place" else Settled.sends)
    part = ranks.split(ranks.rank % 2, -ranks.rank)
    assert part.rank == (ranks.size - 1 - ranks.rank) // 2
    check(part, xp)
    check(ranks.split(0, ranks.rank), xp)
    ranks.close()
    print(kind)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        check_all(each)
