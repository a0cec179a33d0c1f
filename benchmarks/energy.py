"""Joules that a measured piece of work takes: of GPU 0 by NVML, of the processor by RAPL where it can be read.

A processor's counter includes what other programs on it take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from types import TracebackType

from benchmarks.harness import Figure, required

POWERCAP = Path("/sys/class/powercap")


@dataclass(frozen=True)
class Counter:
    """Joules since some moment.

    Attributes:
        name: what takes them, for people.
        read: the joules.
        range: where it begins at 0 again.
    """

    name: str
    read: Callable[[], float]
    range: float = inf


def of_gpu() -> list[Counter]:
    """That of GPU 0 of this process; none where its driver or the binding of NVML (nvidia-ml-py) lacks it."""
    try:
        import pynvml
    except ModuleNotFoundError:
        return []
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByPciBusId(required("cupy").cuda.Device(0).pci_bus_id)
        pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)
    except pynvml.NVMLError:
        return []
    return [Counter("GPU 0", lambda: float(pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)) / 1e3)]


def of_processor(folder: Path = POWERCAP) -> list[Counter]:
    """One for each package; none where they are missing, or only root may read them."""

    def counter(zone: Path) -> Counter:
        def joules(file: str) -> float:
            return int((zone / file).read_text()) / 1e6

        joules("energy_uj")
        return Counter(
            (zone / "name").read_text().strip(), lambda: joules("energy_uj"), joules("max_energy_range_uj")
        )

    try:
        return [counter(zone) for zone in sorted(folder.glob("intel-rapl:[0-9]*")) if zone.name.count(":") == 1]
    except OSError:
        return []


class Meter:
    """The joules between the beginning and the end of a ``with``."""

    def __init__(self, counters: Sequence[Counter]) -> None:
        self._counters = counters
        self._before: list[float] = []
        self.joules = 0.0

    def __enter__(self) -> Meter:
        self._before = [counter.read() for counter in self._counters]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pairs = zip(self._counters, self._before, strict=True)
        self.joules = sum((counter.read() - before) % counter.range for counter, before in pairs)

    @property
    def figure(self) -> Figure | str:
        """For a table; empty where nothing can be read."""
        return Figure(self.joules, "{:,.3g}") if self._counters else ""

    @property
    def heading(self) -> str:
        """Whose joules they are."""
        return f"joules ({', '.join(counter.name for counter in self._counters) or 'no counter'})"
