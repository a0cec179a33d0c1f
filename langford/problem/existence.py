"""Simple proofs that a problem has no arrangement.

- A difference does not fit into the row.
- Parity: a colour that starts at x with difference d fills places that sum to s·x + d·s(s−1)/2, so the places' sum
  minus Σ d·s(s−1)/2 is a multiple of s.  For s = 3 the centre c gives squares 3c² + 2d², which adds a condition on
  squares.
- Room: the last cubes of all colours are (s−1)·Σ d behind the first ones, which cannot be more than the last n
  filled places are behind the first n.  For Langford's row of defect d that is n ≥ 2d − 1, and for the hooked one
  n(n − 2d + 1) + 2 ≥ 0, as in the literature.
- On a circle with an even number of places, the odd differences take as many odd as even places, and the others
  leave no single place of a kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langford.words import several

if TYPE_CHECKING:
    from langford.problem.problem import Problem


def obstruction(problem: Problem) -> str | None:
    """Why there can be no arrangement, or None when none of the proofs applies."""
    for difference in problem.differences if problem.circle else problem.differences[-1:]:
        if not problem.placements(difference):
            holes = f" with places {', '.join(map(str, problem.empty))} empty" if problem.circle else ""
            return f"difference {difference} does not fit into {problem.places} places{holes}"
    return _circular_parity(problem) if problem.circle else _parity(problem) or _room(problem)


def _parity(problem: Problem) -> str | None:
    s, places, differences = problem.copies, sum(problem.filled), sum(problem.differences)
    per_colour = s * (s - 1) // 2
    rest = places - differences * per_colour
    if s == 2 and rest % 2:
        return (
            f"by parity: the filled places sum to {places} and the differences to {differences}; the two cubes of "
            f"a colour, at x and x + d, sum to its difference d plus an even number, but {places} − {differences} "
            f"= {rest} is odd"
        )
    if rest % s:
        return (
            f"by divisibility: the filled places sum to {places} and the differences to {differences}; the {s} "
            f"cubes of a colour with difference d fill places that sum to {s}x + {per_colour}d, but {places} − "
            f"{per_colour}·{differences} = {rest} is not divisible by {s}"
        )
    squares = sum(k * k for k in problem.filled) - 2 * sum(d * d for d in problem.differences)
    if s == 3 and squares % 3:
        return (
            "by divisibility: the three cubes of a colour with difference d fill places whose squares sum to "
            f"3c² + 2d², but {squares}, the sum of the squares of all filled places minus twice that of all "
            "differences, is not divisible by 3"
        )
    return None


def _circular_parity(problem: Problem) -> str | None:
    if problem.places % 2:
        return None
    odd = sum(difference % 2 for difference in problem.differences)
    odd_places = sum(place % 2 for place in problem.filled)
    even_places = len(problem.filled) - odd_places
    if odd <= min(odd_places, even_places) and (odd_places - odd) % 2 == 0:
        return None
    return (
        f"on a circle with an even number of places, {problem.places}, a pair with an odd difference takes an odd "
        f"and an even place, and every other pair takes two of one kind; so with {several(odd, 'odd difference')}, "
        f"{odd_places} odd and {even_places} even places cannot be filled"
    )


def _room(problem: Problem) -> str | None:
    n = problem.n
    span = sum(problem.differences) * (problem.copies - 1)
    room = sum(problem.filled[-n:]) - sum(problem.filled[:n])
    if span <= room:
        return None
    return (
        f"for lack of space: in total, the last cubes of all colours would lie {span} places after the first ones, "
        f"but the last {n} filled places lie only {room} after the first {n}"
    )
