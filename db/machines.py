"""The machines of workers, and the texts by which messages and files describe them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from db.messages import Printable

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


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine of a worker, as the ledger knows it; None: unknown.

    A message that describes one (:class:`db.identity.Identity`) has fields of its own, and so has a line of a file
    (:class:`db.files.forms.MachineLine`).
    """

    host: str
    device_kind: str
    cores: int | None
    processes: int | None  # number of its processes that compute
    device_model: str | None
    slurm_job: str | None  # number of its SLURM job, of the whole array for an array job
    slurm_index: int | None  # its index in the array

    @classmethod
    def of(cls, described: Any) -> Self:
        """``described``: a row of a worker, or another form, with attributes of these names."""
        return cls(*(getattr(described, name) for name in MACHINE))

    @property
    def equipment(self) -> dict[str, Any]:
        """What a worker computes with, and its SLURM job, by the names of the fields."""
        return {name: getattr(self, name) for name in EQUIPMENT}


MACHINE = tuple(field.name for field in fields(Machine))
_, _, *EQUIPMENT = MACHINE


def slurm_name(job: str | None, index: int | None) -> str | None:
    """A SLURM job as in the name of its log: "1234", or "1234_7" in an array."""
    return job if index is None else f"{job}_{index}"
