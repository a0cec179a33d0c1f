"""Where a command computes: on a core with arrays of NumPy, or on GPU 0 with arrays of CuPy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from langford.devices import Cpu, Cuda
from langford.irregular.arrays import require_choice
from langford.irregular.memory import present_bytes


class ArrayPlace(ABC):
    """One device.  The first property or method that needs the GPU looks for it, and may raise NoGpu.

    Attributes:
        on_gpu: whether it is the GPU.
    """

    on_gpu: bool

    @property
    @abstractmethod
    def xp(self) -> Any:
        """The module of its arrays, numpy or cupy."""

    @abstractmethod
    def free_bytes(self) -> int:
        """Memory that is free there, in bytes."""

    @abstractmethod
    def wait(self) -> None:
        """Return when everything that was started there is done."""


class Core(ArrayPlace):
    """A core of the processor."""

    on_gpu = False
    xp = np

    def free_bytes(self) -> int:
        return present_bytes()

    def wait(self) -> None:
        """Return at once: calls on a core return when they are done."""


class FirstGpu(ArrayPlace):
    """GPU 0."""

    on_gpu = True

    @property
    def xp(self) -> Any:
        from langford.irregular.cuda.gpu import gpu_by_number

        return gpu_by_number(0).xp

    def free_bytes(self) -> int:
        from langford.irregular.cuda.gpu import free_bytes

        return free_bytes()

    def wait(self) -> None:
        from langford.irregular.cuda.gpu import wait

        wait()


_PLACES: dict[str, type[ArrayPlace]] = {Cpu.kind: Core, Cuda.kind: FirstGpu}


def place_of(device: str) -> ArrayPlace:
    """The place that an option names, "cpu" or "cuda"; raises BadInput."""
    require_choice("device", device, _PLACES)
    return _PLACES[device]()
