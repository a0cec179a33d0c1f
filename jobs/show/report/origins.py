"""Where results come from: hosts, devices and versions, as their provenances name them."""

from __future__ import annotations

from dataclasses import dataclass

from db.look.figures.campaign import SourceFigures
from db.look.history import History
from langford.devices import CPU
from langford.provenance import device_and_model, read

NAMED = ("host", "device", "kernels")
UNKNOWN = "not known"


@dataclass(frozen=True)
class DeviceResults:
    """Results of one kind of device of one host, by one version of the kernels."""

    host: str
    device: str  # what the maker calls it; "cpu" for a processor without a name
    kernels: str
    # Of this program and of what its kernels are compiled with: (name, version)
    versions: tuple[tuple[str, str], ...]
    number: int
    seconds: float
    work: float


def origins(history: History) -> tuple[DeviceResults, ...]:
    """Those with the longest computing time first."""
    alike: dict[tuple[str, str, str, tuple[tuple[str, str], ...]], list[SourceFigures]] = {}
    for source in history.figures.sources:
        said = read(source.text)
        _, model = device_and_model(said.get("device", UNKNOWN))
        if model == str(CPU):
            model = source.model or model
        host = said.get("host", UNKNOWN)
        versions = tuple((name, text) for name, text in said.items() if name not in NAMED)
        alike.setdefault((host, model, said.get("kernels", UNKNOWN), versions), []).append(source)
    found = [
        DeviceResults(
            *named,
            sum(source.number for source in sources),
            sum(source.seconds for source in sources),
            sum(source.work for source in sources),
        )
        for named, sources in alike.items()
    ]
    return tuple(sorted(found, key=lambda origin: (-origin.seconds, origin.host, origin.kernels)))
