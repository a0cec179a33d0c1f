"""What a report says about who computed: devices and hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from jobs.show.report.document import Block, Grid, Paragraph, capped
from jobs.show.report.gathering import Evidence
from jobs.show.report.origins import UNKNOWN, DeviceResults
from langford.devices import CPU
from langford.words import duration, number, quantity, several, share, speed


def summary(evidence: Evidence) -> str:
    """Empty when no one computed.

    How many devices there were is not known: machines may have one name.  How many computed at once is.
    """
    models = dict.fromkeys(origin.device for origin in evidence.origins if origin.device != UNKNOWN)
    named = ["processors" if model == str(CPU) else model for model in models]
    parts = [*named[:4], *([several(len(named) - 4, "other kind")] if len(named) > 4 else [])]
    hosts, most = len(evidence.hosts), evidence.numbers.most_devices
    if not hosts:
        return ""
    workers = f"{several(evidence.history.all_workers, 'worker')} on " if evidence.history.all_workers else ""
    at_once = f"; at most {several(most, 'device')} at once" if most else ""
    return f"{workers}{several(hosts, 'host')}{': ' if parts else ''}{', '.join(parts)}{at_once}"


def blocks(evidence: Evidence) -> Iterator[Block]:
    if not evidence.origins:
        yield Paragraph("Nothing has been computed yet.")
        return
    yield Paragraph(f"{summary(evidence)}.")
    yield _devices(evidence)
    yield _hosts(evidence)


def _devices(evidence: Evidence) -> Grid:
    groups: dict[tuple[str, str], list[DeviceResults]] = defaultdict(list)
    for origin in evidence.origins:
        groups[origin.device, origin.kernels].append(origin)
    total = evidence.numbers.effective or 1.0
    rows = []
    for (device, kernels), origins in groups.items():
        results = sum(origin.number for origin in origins)
        seconds = sum(origin.seconds for origin in origins)
        of_each = f"{number(seconds / results)} s"
        device_speed = speed(sum(origin.work for origin in origins), seconds)
        fast = "" if device_speed is None else quantity(device_speed)
        rows.append([device, kernels, f"{results:,}", duration(seconds), share(seconds / total), of_each, fast])
    head = ["device", "kernels", "tasks", "time", "share", "mean", f"{evidence.unit}/s"]
    caption = f"Results by device and version of the kernels; {evidence.unit}/s of computation, of one device"
    return Grid(caption, head, capped(rows), numbers=5)


def _hosts(evidence: Evidence) -> Grid:
    groups: dict[str, list[DeviceResults]] = defaultdict(list)
    for origin in evidence.origins:
        groups[origin.host].append(origin)
    rows = []
    for host, origins in groups.items():
        models = ", ".join(dict.fromkeys(origin.device for origin in origins))
        seconds = sum(origin.seconds for origin in origins)
        tasks = sum(origin.number for origin in origins)
        rows.append(
            [host, models, f"{tasks:,}", duration(seconds), share(seconds / (evidence.numbers.effective or 1.0))]
        )
    return Grid("Results by host", ["host", "devices", "tasks", "time", "share"], capped(rows), numbers=3)
