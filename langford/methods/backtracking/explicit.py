"""Explicit arrangements: iterate, and find one at random.

An arrangement is a tuple with one label per place: Langford's colour k (k cubes between the
two), elsewhere the difference itself; 0 marks a place that stays empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from langford.errors import TooExpensive
from langford.problem import Problem
from langford.problem.recognition import require_no_condition

Arrangement = tuple[int, ...]

MAX_PLACES = 128
"""The longest row that is searched; in longer ones no arrangement would be found in a reasonable time."""
PATIENCE = 20_000
"""After this many steps a randomised search is abandoned, and another one starts."""


def iterate(problem: Problem) -> Iterator[Arrangement]:
    """All arrangements in lexicographic order of places filled; raises TooExpensive, MethodDoesNotApply.

    Of mirror images, and of the rotations and reflections of a full circle, one.  Where the problem has an
    obstruction there is none, and no search.
    """
    if problem.obstruction:
        return
    _require_reach(problem)
    for placed in _extend(problem, problem.free_mask, _unplaced(problem)):
        arrangement = _labelled(problem, placed)
        if all(arrangement <= image for image in _images(problem, arrangement)):
            yield arrangement


def find(problem: Problem, seed: int | None = None) -> Arrangement:
    """An arrangement from a randomised search: every one can occur, but not all with the same probability.

    Raises TooExpensive when there is none, or none would be found, and MethodDoesNotApply.
    """
    _require_reach(problem)
    if problem.obstruction:
        raise TooExpensive(f"{problem} has no arrangement to draw: {problem.obstruction}")
    random = Random(seed)
    while True:
        left = [PATIENCE]
        placed = next(_extend(problem, problem.free_mask, _unplaced(problem), random, left), None)
        if placed is not None:
            return _labelled(problem, placed)
        if left[0] >= 0:
            raise TooExpensive(f"{problem} has no arrangement to draw")  # all were tried


def _require_reach(problem: Problem) -> None:
    """Raises TooExpensive for a row in which no arrangement would be found, MethodDoesNotApply for a condition."""
    require_no_condition(problem)
    if problem.places > MAX_PLACES:
        raise TooExpensive(
            f"searches are limited to {MAX_PLACES} places; {problem} has {problem.places}: choose a smaller problem"
        )


def _unplaced(problem: Problem) -> tuple[int, ...]:
    """The differences of all colours, and a 0 for each hole that may be anywhere: a colour of one cube."""
    return (0,) * problem.loose + problem.differences


def _without(unplaced: tuple[int, ...], difference: int) -> tuple[int, ...]:
    at = unplaced.index(difference)
    return unplaced[:at] + unplaced[at + 1 :]


def _images(problem: Problem, arrangement: Arrangement) -> Iterator[Arrangement]:
    """The arrangements that the literature counts as the same one."""
    if problem.up_to and not problem.circle:
        yield arrangement[::-1]
    if problem.circle and not problem.empty:
        twice = arrangement * 2
        for k in range(problem.places):
            yield (turned := twice[k : k + problem.places])
            yield turned[::-1]


def _covering(problem: Problem, free: int, unplaced: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """(difference, mask) of every way in which an unplaced colour, or a hole, can cover the lowest free place."""
    lowest = (free & -free).bit_length() - 1
    unused = 0
    for d in unplaced:
        unused |= 1 << d
    if unused & 1:
        yield 0, 1 << lowest
        unused ^= 1
    if problem.circle:
        others = (place for place in range(lowest + 1, problem.places) if free >> place & 1)
        apart = ((min(place - lowest, problem.places + lowest - place), place) for place in others)
        yield from ((d, 1 << lowest | 1 << place) for d, place in apart if unused >> d & 1)
        return
    fitting = free >> lowest & unused
    while fitting:
        bit = fitting & -fitting
        fitting ^= bit
        d = bit.bit_length() - 1
        mask = problem.shape(d) << lowest
        if free & mask == mask:
            yield d, mask


def _extend(
    problem: Problem,
    free: int,
    unplaced: tuple[int, ...],
    random: Random | None = None,
    patience: list[int] | None = None,
) -> Iterator[tuple[tuple[int, int], ...]]:
    """Depth-first completions as (difference, mask) pairs; gives up when patience runs out."""
    if not unplaced:
        yield ()
        return
    options = list(_covering(problem, free, unplaced))
    if random:
        random.shuffle(options)
    for d, mask in options:
        if patience is not None:
            patience[0] -= 1
            if patience[0] < 0:
                return
        for below in _extend(problem, free ^ mask, _without(unplaced, d), random, patience):
            yield ((d, mask), *below)


def _labelled(problem: Problem, placed: tuple[tuple[int, int], ...]) -> Arrangement:
    row = [0] * problem.places
    for d, mask in placed:
        for place in range(problem.places):
            if d and mask >> place & 1:
                row[place] = problem.label(d)
    return tuple(row)
