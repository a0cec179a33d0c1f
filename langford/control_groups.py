"""The control groups of Linux that this process is in: batch systems and containers set limits there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ControlGroup:
    """A control group.

    Attributes:
        unified: whether it belongs to the hierarchy of version 2, whose files have other names.
    """

    folder: Path
    unified: bool


def control_groups(controller: str, root: Path = Path("/")) -> Iterator[ControlGroup]:
    """The groups of this process that a controller may limit, each before the one that it is part of.

    A folder need not exist: those of the machine are hidden from a container.  ``controller``: "memory" or "cpu".
    """
    own = root / "proc/self/cgroup"
    for line in own.read_text().splitlines() if own.exists() else []:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        top = root / "sys/fs/cgroup" / (controller if controllers else "")
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):
            yield ControlGroup(folder, unified=not controllers)
            if folder == top:
                break
