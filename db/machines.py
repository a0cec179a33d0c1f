"""The machines of workers, as records, files and messages describe them."""

from __future__ import annotations

from typing import Any, Self

from db.messages import DeviceKind, Message, Number, Printable

ID_LENGTH = 8
"""Characters of a worker's UUID that are shown: the whole UUID is a secret of the worker and the server."""
MAX_HOST, MAX_MODEL, MAX_JOB = 255, 200, 40


def worker_name(worker_id: str, host: str) -> str:
    """How people are told of a worker: "0f3a29c4 on node17"."""
    return f"{worker_id[:ID_LENGTH]} on {host}"


class HostName(Printable):
    LONGEST = MAX_HOST


class DeviceModel(Printable):
    LONGEST = MAX_MODEL


class SlurmJob(Printable):
    """The number of a job in SLURM."""

    LONGEST = MAX_JOB


class Machine(Message, frozen=True):
    """The machine of a worker, as the ledger, files and messages describe it; None: unknown."""

    host: HostName
    device_kind: DeviceKind
    cores: Number | None
    processes: Number | None  # number of its processes that compute
    device_model: DeviceModel | None
    slurm_job: SlurmJob | None  # number of its SLURM job, of the whole array for an array job
    slurm_index: Number | None  # its index in the array

    @classmethod
    def of(cls, worker: Any) -> Self:
        """``worker``: a row with the columns of a worker."""
        return cls(*(getattr(worker, name) for name in Machine.__struct_fields__))

    @property
    def slurm(self) -> str | None:
        return slurm_name(self.slurm_job, self.slurm_index)

    @property
    def equipment(self) -> dict[str, Any]:
        """What a worker computes with, and its SLURM job, by the names of the fields."""
        return {name: getattr(self, name) for name in EQUIPMENT}


_, _, *EQUIPMENT = Machine.__struct_fields__


def slurm_name(job: str | None, index: int | None) -> str | None:
    """A SLURM job as in the name of its log: "1234", or "1234_7" in an array."""
    return job if index is None else f"{job}_{index}"
