"""MPI's world of this program, and which device each rank takes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from langford.devices import CPU, Device, devices
from langford.errors import LangfordError

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm


class NoMpi(LangfordError):
    """mpi4py or an MPI library is missing."""


class SeparateWorlds(LangfordError):
    """Several processes were started, but each is an MPI world of its own."""


def world() -> Intracomm:
    """All ranks of this program; raises NoMpi or SeparateWorlds."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise NoMpi(f"MPI runs need mpi4py and an MPI library ({error}): pip install 'langford[mpi]'") from error
    started = int(os.environ.get("SLURM_NTASKS", "1"))
    if MPI.COMM_WORLD.size == 1 and started > 1:
        raise SeparateWorlds(
            f"SLURM started {started} tasks, but each is alone in its MPI world: srun and this MPI library do not "
            "talk; start with `mpirun`, or with `srun --mpi=pmi2` (see `srun --mpi=list`)"
        )
    return MPI.COMM_WORLD


def device_of(communicator: Intracomm, kind: str, first_computes: bool) -> Device:
    """The device of this rank: a core, or one of the GPUs of its host, dealt out to the ranks that compute.

    Args:
        kind: "cpu" or "cuda".
        first_computes: whether rank 0 computes too.

    Raises NoGpu.
    """
    from mpi4py import MPI

    here = communicator.Split_type(MPI.COMM_TYPE_SHARED)
    ranks = here.allgather(communicator.rank)
    here.Free()
    if kind == CPU.kind:
        return CPU
    computing = [rank for rank in ranks if first_computes or rank]
    gpus = devices(kind)
    turn = computing.index(communicator.rank) if communicator.rank in computing else 0
    return gpus[turn % len(gpus)]
