"""The levels of a breadth-first search, as every device records them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Direction = Literal["auto", "down", "up"]
DOWN, UP, AUTO = 0, 1, 2
DIRECTIONS: dict[str, int] = {"auto": AUTO, "down": DOWN, "up": UP}
MAX_LEVELS = 4096
"""Levels that a search records, at most."""


@dataclass(frozen=True)
class Level:
    """One level of a search: a row of the thesis's table 2.1.

    Attributes:
        frontier: vertices at this depth.
        inspected: edges looked at to find the next ones.
        direction: "down" from the frontier to its targets, "up" from unreached vertices to the frontier.
    """

    frontier: int
    inspected: int
    direction: str


def recorded_levels(record: NDArray[np.int64]) -> list[Level]:
    """The levels of a record, int64[levels, 3]: frontier, edges inspected, and DOWN or UP."""
    return [Level(size, inspected, "up" if side == UP else "down") for size, inspected, side in record.tolist()]
