"""When two problems are the same: the one key that every comparison of problems asks for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Pattern:
    """The same for two problems whose arrangements are each other's images: all of them have one count.

    Names do not matter: near-Skolem rows without 1 are Langford's.  Nor does the direction of reading, nor an empty
    place at the end of a row, nor the place of a circle where the reading starts.
    """

    circle: bool
    differences: tuple[int, ...]
    copies: int
    places: int  # from the first to the last filled place of a row; all places of a circle
    holes: tuple[int, ...]  # how far from the first place of the reading that makes these the smallest, ascending
    condition: str  # of the variant; its images need not satisfy it, so the reading is the given one

    @classmethod
    def of(
        cls,
        circle: bool,
        differences: tuple[int, ...],
        copies: int,
        places: int,
        empty: tuple[int, ...],
        condition: str,
    ) -> Pattern:
        """The arguments are the attributes of a :class:`langford.problem.Problem`."""
        holes = tuple(place - 1 for place in empty)
        if not condition:
            places, holes = (_on_circle if circle else _on_line)(places, holes)
        return cls(circle, differences, copies, places, holes, condition)


def _on_line(places: int, holes: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    filled = sorted({*range(places)} - {*holes})
    between = [hole for hole in holes if filled[0] < hole < filled[-1]]
    readings = (tuple(sorted(abs(hole - end) for hole in between)) for end in (filled[0], filled[-1]))
    return filled[-1] - filled[0] + 1, min(readings)


def _on_circle(places: int, holes: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    readings = (
        tuple(sorted(way * (hole - first) % places for hole in holes)) for first in holes for way in (1, -1)
    )
    return places, min(readings, default=())
