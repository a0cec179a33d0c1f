"""The identity of a worker: a fresh UUID per start, and a name of its process that shows later if it is dead."""

from __future__ import annotations

import os
import platform
import re
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from db.machines import EQUIPMENT, MAX_JOB, MAX_MODEL, DeviceModel, HostName, Machine, SlurmJob
from db.messages import ALPHANUMERIC, PROCESS, DeviceKind, Message, Number, Uuid
from langford.devices import Device, kind_of
from langford.machine.cores import cores
from langford.machine.process import has_ended
from langford.provenance import kernel_hash

MAX_BYTES = 255
"""Of the name of a host and of a device, as it is stored."""


class Identity(Message, frozen=True, kw_only=True, rename={"worker_id": "worker"}):
    """A worker that registers: its machine (:class:`db.machines.Machine`), and who it is there."""

    host: HostName
    device_kind: DeviceKind
    cores: Number | None = None
    processes: Number | None = None
    device_model: DeviceModel | None = None
    slurm_job: SlurmJob | None = None
    slurm_index: Number | None = None
    worker_id: Uuid
    process: Annotated[str, Meta(pattern=PROCESS)]  # its name on that machine, see process_name
    # Hash of the code that computes here; of that of a method once the campaign is known (langford.provenance)
    kernels: Annotated[str, Meta(max_length=64, pattern=ALPHANUMERIC)]

    def __post_init__(self) -> None:
        """Whoever enrols must not fill the ledger, which keeps a host three times."""
        for name, text in (("host", self.host), ("device_model", self.device_model or "")):
            if len(text.encode()) > MAX_BYTES:
                raise ValueError(f"{name}: expected at most {MAX_BYTES} bytes in UTF-8")

    @property
    def machine(self) -> Machine:
        return Machine.of(self)

    @classmethod
    def fresh(cls, devices: Sequence[Device] = ()) -> Identity:
        return cls(
            worker_id=str(uuid.uuid4()),
            process=process_name(os.getpid()),
            kernels=kernel_hash(),
            host=HostName(platform.node()),
            device_kind=kind_of(devices),
            **equipment_of(devices),
        )


def equipment_of(devices: Sequence[Device], environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """What a worker has that computes on these devices, and which job of SLURM it is.

    ``environment``: where SLURM tells the job: that of this process.
    """
    if not devices:
        return dict.fromkeys(EQUIPMENT)
    models = dict.fromkeys(device.model for device in devices)
    job = environment.get("SLURM_ARRAY_JOB_ID") or environment.get("SLURM_JOB_ID")
    index = environment.get("SLURM_ARRAY_TASK_ID", "")
    return {
        "cores": cores(),
        "processes": len(devices),
        "device_model": ", ".join(models)[:MAX_MODEL],
        "slurm_job": None if job is None else job[:MAX_JOB],
        "slurm_index": int(index) if re.fullmatch("[0-9]{1,9}", index) else None,
    }


def process_name(pid: int) -> str:
    """The name of a process: its id, its start time and the boot id of the machine.

    A later process with the same id has another name, also after a reboot.  Where /proc is missing the name
    is the process id alone.
    """
    try:
        # Field 22 of stat; the command in field 2 may contain spaces, but ends in ")".
        started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return str(pid)
    return f"{pid}@{started}@{boot}"


def is_dead(host: str, process: str) -> bool:
    """Whether a process is known to be dead; False for processes of other hosts."""
    if host != platform.node():
        return False
    if not re.match(PROCESS, process):
        return False
    pid = int(process.partition("@")[0])
    # Some systems hide the names of other users' processes: then only the id is known.
    return has_ended(pid) or process_name(pid) not in (process, str(pid))
