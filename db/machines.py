"""The machines of workers, as records, files and messages describe them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from db.messages import DeviceKind, Message, Number, Printable

ID_LENGTH = 8
"""Characters of a worker's UUID that are shown: the whole UUID is a secret of the worker and the server."""
MAX_HOST, MAX_MODEL, MAX_JOB = 255, 200, 40
S = TypeVar("S", bound=str)


class HostName(Printable):
    """The name of a machine."""

    LONGEST = MAX_HOST


class DeviceModel(Printable):
    """The manufacturer's name of a device."""

    LONGEST = MAX_MODEL


class SlurmJob(Printable):
    """The number of a job in SLURM."""

    LONGEST = MAX_JOB


@dataclass(frozen=True)
class Equipment:
    """What a worker computes with, and its SLURM job; None: unknown."""

    cores: int | None = None
    processes: int | None = None  # number of its processes that compute
    device_model: str | None = None
    slurm_job: str | None = None  # number of its SLURM job, of the whole array for an array job
    slurm_index: int | None = None  # its index in the array

    @property
    def slurm(self) -> str | None:
        """The SLURM job as in the name of its log: "1234", or "1234_7" in an array."""
        return self.slurm_job if self.slurm_index is None else f"{self.slurm_job}_{self.slurm_index}"


UNKNOWN = Equipment()


@dataclass(frozen=True)
class Machine:
    """A worker as an export describes it, without its UUID, which is secret."""

    number: int  # distinguishes it from the other workers of the same export
    host: str
    device_kind: str
    equipment: Equipment


class MachineFields(Message, frozen=True, kw_only=True):
    """The machine of a worker, as files and messages describe it; see :class:`Equipment`."""

    host: HostName
    device_kind: DeviceKind
    cores: Number | None
    processes: Number | None
    device_model: DeviceModel | None
    slurm_job: SlurmJob | None
    slurm_index: Number | None

    @classmethod
    def fields_of(cls, host: str, device_kind: str, equipment: Equipment) -> dict[str, Any]:
        return {
            "host": HostName(host),
            "device_kind": device_kind,
            **asdict(equipment),
            "device_model": _perhaps(DeviceModel, equipment.device_model),
            "slurm_job": _perhaps(SlurmJob, equipment.slurm_job),
        }

    @property
    def equipment(self) -> Equipment:
        model, job = _perhaps(str, self.device_model), _perhaps(str, self.slurm_job)
        return Equipment(self.cores, self.processes, model, job, self.slurm_index)


def _perhaps(kind: type[S], text: str | None) -> S | None:
    return None if text is None else kind(text)
