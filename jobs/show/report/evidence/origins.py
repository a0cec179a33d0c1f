"""Where the results of a campaign come from: devices, hosts, kernels and versions, as the provenances say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from db.look.history import History
from jobs.show.report.evidence.numbers import Spread
from jobs.show.report.evidence.timeline import Times
from jobs.verify.provenance import device, provenance
from langford.devices import CPU

NAMED = ("host", "device", "kernels")
UNKNOWN = "not known"


@dataclass(frozen=True)
class Origin:
    """Results of one kind of device of one host, by one version of the kernels."""

    host: str
    device: str  # what the maker calls it; "cpu" for a processor without a name
    kernels: str
    # Of this program and of what its kernels are compiled with: (name, version)
    versions: tuple[tuple[str, str], ...]
    units: int  # how many devices of this kind the provenances distinguish; 1 if they do not
    times: Spread
    seconds: float
    work: float


def origins(history: History, work: Times) -> tuple[Origin, ...]:
    """Those with the longest computing time first; ``work``: of every task, float64[tasks]."""
    results = history.results
    alike: dict[tuple[str, str, str, tuple[tuple[str, str], ...]], list[int]] = {}
    units: dict[tuple[str, str], set[str]] = {}
    for place, source in enumerate(history.sources):
        said = provenance(source)
        place_of, model = device(said.get("device", UNKNOWN))
        if model == str(CPU):
            model = _processor(history, place) or model
        host = said.get("host", UNKNOWN)
        versions = tuple((name, text) for name, text in said.items() if name not in NAMED)
        alike.setdefault((host, model, said.get("kernels", UNKNOWN), versions), []).append(place)
        units.setdefault((host, model), set()).add(place_of)
    found = []
    for (host, model, kernels, versions), places in alike.items():
        chosen = np.isin(results.source, places)
        times = Spread.of(results.seconds[chosen])
        if times is not None:
            seconds, done = float(results.seconds[chosen].sum()), float(work[results.task[chosen]].sum())
            count = len(units[host, model])
            found.append(Origin(host, model, kernels, versions, count, times, seconds, done))
    return tuple(sorted(found, key=lambda origin: (-origin.seconds, origin.host, origin.kernels)))


def _processor(history: History, source: int) -> str | None:
    positions = history.results.worker[history.results.source == source]
    worker = int(positions[0]) if len(positions) else -1
    return None if history.workers is None or worker < 0 else history.workers[worker].device_model
