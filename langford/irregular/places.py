"""Where a command computes: on a core with arrays of NumPy, or on GPU 0 with arrays of CuPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from langford.devices import Cpu, Cuda
from langford.irregular.arrays import require_choice
from langford.irregular.memory import present_bytes

if TYPE_CHECKING:
    from langford.irregular.cuda.gpu import Gpu


@dataclass(frozen=True)
class ArrayPlace:
    """A core, or GPU 0.  The first property or method that needs the GPU looks for it, and may raise NoGpu.

    Attributes:
        on_gpu: whether it is the GPU.
    """

    on_gpu: bool

    @property
    def gpu(self) -> Gpu:
        from langford.irregular.cuda.gpu import gpu_by_number

        return gpu_by_number(0)

    @property
    def xp(self) -> Any:
        """The module of its arrays, numpy or cupy."""
        return self.gpu.xp if self.on_gpu else np

    def free_bytes(self) -> int:
        """Memory that is free there, in bytes."""
        return self.gpu.free_bytes() if self.on_gpu else present_bytes()

    def wait(self) -> None:
        """Return when everything that was started there is done: on a core at once."""
        if self.on_gpu:
            self.gpu.wait()


def place_of(device: str) -> ArrayPlace:
    """The place that an option names, "cpu" or "cuda"; raises BadInput."""
    require_choice("device", device, (Cpu.kind, Cuda.kind))
    return ArrayPlace(device == Cuda.kind)
