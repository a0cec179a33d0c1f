"""Where a task is evaluated: on a core of the processor, or on a GPU."""

from __future__ import annotations

import os
import platform
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from langford.errors import LangfordError
from langford.kernels.cuda.runtime import device_count, device_name, is_lost

KINDS = ("cpu", "cuda")
PROCESSOR_FILE = Path("/proc/cpuinfo")


class BadDevice(LangfordError):
    """A text names no device."""


@dataclass(frozen=True)
class Device:
    """A core of the processor ("cpu"), or GPU number ``index`` ("cuda:0").

    Attributes:
        kind: "cpu" or "cuda".
        index: which of the GPUs, from 0; 0 for the processor, whose cores are all alike.
    """

    kind: str
    index: int = 0

    @classmethod
    def parse(cls, text: str) -> Device:
        """The device that a text names: "cpu", "cuda" (GPU 0) or "cuda:K"; raises BadDevice.

        >>> Device.parse("cuda:1")
        Device(kind='cuda', index=1)
        >>> str(Device.parse("cuda"))
        'cuda:0'
        """
        named = re.fullmatch(r"(cpu)|(cuda)(?::(\d{1,4}))?", text)
        if named is None:
            raise BadDevice(f"{text!r} is no device: write cpu, cuda or cuda:1")
        return CPU if named[1] else cls("cuda", int(named[3] or 0))

    def __str__(self) -> str:
        return "cpu" if self == CPU else f"{self.kind}:{self.index}"

    @property
    def name(self) -> str:
        """What its maker calls a GPU; "cpu" for the processor.  Raises NoGpu."""
        return device_name(self.index) if self.kind == "cuda" else str(self)

    @property
    def model(self) -> str:
        """What its maker calls it.  Raises NoGpu."""
        return device_name(self.index) if self.kind == "cuda" else processor_model()

    @property
    def is_lost(self) -> bool:
        """Whether this process can compute nothing on it any more, after an error; another process may."""
        return self.kind == "cuda" and is_lost(self.index)


CPU = Device("cpu")


@cache
def processor_model() -> str:
    """What its maker calls the processor; its architecture where the system does not tell."""
    with suppress(OSError):
        for line in PROCESSOR_FILE.read_text(errors="replace").splitlines():
            field, _, value = line.partition(":")
            if field.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def cores() -> int:
    """Cores of the processor that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def devices(kind: str, most_cores: int | None = None) -> list[Device]:
    """One device per worker.

    Args:
        kind: "cpu" for one entry per core, "cuda" for every GPU once.
        most_cores: entries for "cpu"; by default one for each core that this process may use.

    Raises NoGpu when there is no GPU, BadDevice for another kind.
    """
    if kind not in KINDS:
        raise BadDevice(f"{kind!r} is no kind of device: choose one of {', '.join(KINDS)}")
    if kind == CPU.kind:
        return [CPU] * (most_cores or cores())
    return [Device("cuda", index) for index in range(device_count())]
