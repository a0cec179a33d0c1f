"""The levels of a breadth-first search, as every device records them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from langford.irregular.arrays import Array

Direction = Literal["auto", "down", "up"]
DOWN, UP, AUTO = 0, 1, 2
DIRECTIONS: dict[str, int] = {"auto": AUTO, "down": DOWN, "up": UP}
MAX_LEVELS = 4096
"""Levels of which a search keeps a record."""


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


class SearchResult(NamedTuple):
    """What a search has found, as :class:`langford.irregular.Bfs` explains it."""

    parent: Array
    levels: list[Level]
