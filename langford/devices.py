"""Where a task is evaluated: what differs between the kinds of devices is in one class each.

:class:`Cpu` and :class:`Cuda` are the kinds that compute campaigns.  :class:`Host` is for verification: the
processor runs the kernels of the GPU.
"""

from __future__ import annotations

import platform
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from langford.errors import LangfordError
from langford.kernels.gpu.runtime import device_count, device_memory, device_name, is_lost
from langford.machine.cores import cores

if TYPE_CHECKING:
    from langford.kernels.gpu.program import Compiler

PROCESSOR_FILE = Path("/proc/cpuinfo")


class BadDevice(LangfordError):
    """A text names no device."""


@dataclass(frozen=True)
class Device(ABC):
    """A core of the processor ("cpu"), or GPU number ``index`` ("cuda:0").

    Attributes:
        index: which of the GPUs, from 0; 0 for the processor, whose cores are all alike.
        kernels: the kind whose kernels it runs: the key in ``Method.evaluators``.
        label: its name in figures.
        unit: the word for one device of this kind.
        on_cores: whether its devices are cores, of which the user chooses how many compute.
        fewer_levels: by how many levels its tasks are less deep, and so larger, than those for one core.
        task_seconds: how long a task of a new campaign should take; None: the method suggests the depth.
        outlives_fork: whether a kernel that was loaded before a fork works after it.
    """

    index: int = 0
    kind: ClassVar[str]
    kernels: ClassVar[str]
    label: ClassVar[str]
    unit: ClassVar[str]
    on_cores: ClassVar[bool] = False
    fewer_levels: ClassVar[int] = 0
    task_seconds: ClassVar[float | None] = None
    outlives_fork: ClassVar[bool] = False

    @staticmethod
    def parse(text: str) -> Device:
        """The device that a text names; raises BadDevice.

        Args:
            text: "cpu", "cuda" (GPU 0) or "cuda:K".

        >>> Device.parse("cuda:1")
        Cuda(index=1)
        >>> str(Device.parse("cuda"))
        'cuda:0'
        """
        named = re.fullmatch(rf"({Cpu.kind})|{Cuda.kind}(?::(\d{{1,4}}))?", text)
        if named is None:
            raise BadDevice(f"{text!r:.80} is not a device: use cpu, cuda or cuda:1")
        return CPU if named[1] else Cuda(int(named[2] or 0))

    @classmethod
    @abstractmethod
    def present(cls, most_cores: int | None = None) -> Sequence[Device]:
        """One device per worker of this machine; raises NoGpu.

        Args:
            most_cores: entries for cores; None: one for each core that this process may use.
        """

    @staticmethod
    @abstractmethod
    def clock() -> float:
        """Seconds by which a computation of this thread is timed."""

    @property
    @abstractmethod
    def model(self) -> str:
        """Its model, as the manufacturer names it.  Raises NoGpu."""

    @property
    @abstractmethod
    def described(self) -> str:
        """The device as provenances and statements name it.  Raises NoGpu."""

    @property
    @abstractmethod
    def kernel_words(self) -> str: ...

    @property
    def at_once(self) -> int:
        """How many tasks one process evaluates on it at once."""
        return 1

    @property
    def is_lost(self) -> bool:
        """Whether this process can compute nothing on it any more, after an error; another process may."""
        return False

    def evaluator(self, maker: Any, plan: Any) -> Any:
        """The evaluator of a plan here; raises as :meth:`langford.methods.plan.Plan.evaluator`.

        Args:
            maker: the class that the method names for this kind of device.
            plan: of a problem that the method can count.
        """
        return maker.on(plan, self)


class Cpu(Device):
    """A core of the processor."""

    kind = kernels = "cpu"
    label = "CPU"
    unit = "core"
    on_cores = True
    outlives_fork = True

    @classmethod
    def present(cls, most_cores: int | None = None) -> Sequence[Device]:
        return [cls()] * (most_cores or cores())

    @staticmethod
    def clock() -> float:
        """Processor time: other processes on the core do not count."""
        return time.thread_time()

    def __str__(self) -> str:
        return self.kind

    @property
    def model(self) -> str:
        return _processor_model()

    @property
    def described(self) -> str:
        return self.kind

    @property
    def kernel_words(self) -> str:
        return "the kernel of the processor"

    @property
    def at_once(self) -> int:
        """One per core: the kernels release the interpreter."""
        return cores()


class Cuda(Device):
    """A GPU."""

    kind = kernels = "cuda"
    label = unit = "GPU"
    fewer_levels = 4  # it needs tasks at least 16 times as large as a core does
    task_seconds = 20.0

    @classmethod
    def present(cls, most_cores: int | None = None) -> Sequence[Device]:
        return [cls(index) for index in range(device_count())]

    @staticmethod
    def clock() -> float:
        """Wall time: the thread waits while the GPU computes."""
        return time.perf_counter()

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}"

    @property
    def model(self) -> str:
        return device_name(self.index)

    @property
    def described(self) -> str:
        return f"{self} {self.model}"

    @property
    def kernel_words(self) -> str:
        return f"the kernel of the GPU on {self}"

    @property
    def is_lost(self) -> bool:
        return is_lost(self.index)

    @property
    def memory(self) -> int:
        """In bytes; raises NoGpu."""
        return device_memory(self.index)

    @property
    def compiler(self) -> Compiler:
        from langford.kernels.gpu.cuda import CudaProgram

        return partial(CudaProgram, self.index)


class Host(Cpu):
    """The processor with the kernels of the GPU, compiled for it: slow, but other code than its own kernels."""

    kernels = Cuda.kernels
    on_cores = False

    @property
    def described(self) -> str:
        return "host-compiled kernel"

    @property
    def kernel_words(self) -> str:
        return "the kernel of the GPU, compiled for this processor"

    @property
    def at_once(self) -> int:
        """A program compiled for the host does one thing at a time."""
        return 1

    @property
    def memory(self) -> int:
        """In bytes."""
        from langford.kernels.gpu.host import HostProgram

        return HostProgram.memory

    @property
    def compiler(self) -> Compiler:
        from langford.kernels.gpu.host import HostProgram

        return HostProgram


CPU, HOST = Cpu(), Host()
KINDS: dict[str, type[Device]] = {each.kind: each for each in (Cpu, Cuda)}
"""The kinds of devices that compute campaigns, by name."""
VERIFYING: dict[str, type[Device]] = {**KINDS, "host": Host}
"""The kinds of devices on which ``langford verify`` recomputes, by name."""


@cache
def _processor_model() -> str:
    """The model, as the manufacturer names it; the architecture where the system does not know it."""
    with suppress(OSError):
        for line in PROCESSOR_FILE.read_text(errors="replace").splitlines():
            field, _, value = line.partition(":")
            if field.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def devices(name: str, most_cores: int | None = None) -> list[Device]:
    """One device per worker.

    Args:
        name: "cpu" for one entry per core, "cuda" for every GPU once, "cuda:1" for one GPU.
        most_cores: entries for "cpu"; by default one for each core that this process may use.

    Raises NoGpu when there is no such GPU, BadDevice for another name.
    """
    chosen = Device.parse(name)
    if name in KINDS:
        return list(chosen.present(most_cores))
    _ = chosen.model  # raises NoGpu
    return [chosen]


def kind_of(worker: Sequence[Device]) -> str:
    """The kind of a worker with these devices, in the ledger: the first that is not the processor's."""
    return next((device.kind for device in worker if device.kind != Cpu.kind), Cpu.kind)
