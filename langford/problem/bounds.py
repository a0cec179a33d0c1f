"""How large a problem may be, and which differences a circle has."""

from __future__ import annotations

from langford.errors import BadProblem

MAX_PLACES = 4096
"""The longest row: no method can count a longer one, and its description would fill the memory."""

LISTED = 10
"""Numbers of a list that a message names, at most."""


def require_lengths(longest: int, places: int) -> None:
    """Raises BadProblem where the largest difference, or the row, is too long."""
    if max(longest, places) > MAX_PLACES:
        raise BadProblem(f"a difference, or a row, may be at most {MAX_PLACES:,} long: choose a smaller problem")


def require_circle(differences: tuple[int, ...], places: int, copies: int, fold: int, adrift: bool) -> None:
    """Raises BadProblem unless these are differences of pairs on a circle.

    ``adrift``: whether it has holes, none of which has a place.
    """
    if copies != 2:
        raise BadProblem("a circle takes pairs only: leave copies out")
    if fold != 1:
        raise BadProblem("a circle takes each difference once: leave fold out")
    if adrift:
        raise BadProblem("a circle with holes anywhere needs one at a given place: add empty 1, for one hole less")
    for d in differences:
        if 2 * d > places:
            same = min(d % places, -d % places)
            raise BadProblem(
                f"two places of a circle of {places} are at most {places // 2} apart: difference {d} is "
                f"{f'the same as {same}' if same else 'that of a place and itself'}"
            )


def require_sizes(n: int, copies: int, fold: int = 1, holes: int = 0) -> None:
    """Raises BadProblem for too few or too many differences, cubes of each colour, colours of each difference, or
    holes."""
    if n < 1:
        raise BadProblem(f"n must be at least 1, not {n}")
    if copies < 2:
        raise BadProblem(f"a colour needs at least 2 cubes, not {copies}")
    if fold < 1 or holes < 0:
        raise BadProblem("fold must be at least 1" if fold < 1 else f"the number of holes cannot be {holes}")
    if max(n, copies, fold, holes, n * copies * fold + holes) > MAX_PLACES:
        raise BadProblem(f"n times the cubes of a colour may be at most {MAX_PLACES:,}: choose a smaller problem")
