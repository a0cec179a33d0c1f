"""Explicit arrangements: iterate, check, sample.

An arrangement is a tuple with one label per place: Langford's colour k (k cubes between the
two), elsewhere the difference itself; 0 marks a place that stays empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from random import Random

from langford.errors import BadProblem, TooExpensive
from langford.methods.backtracking import Miller
from langford.problem import Problem
from langford.problem.recognition import labelled, require_no_condition

Arrangement = tuple[int, ...]

MAX_PLACES = 128
"""The longest row that is searched; in longer ones no arrangement would be found in a reasonable time."""
UNIFORM_COLOURS = 14
"""Up to this n subtrees are counted exactly on the way down."""
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


def is_valid(problem: Problem, arrangement: Arrangement) -> bool:
    """Whether every colour's cubes stand at its distance and the right places are empty."""
    try:
        return labelled(problem, arrangement) == arrangement
    except BadProblem:
        return False


def is_uniform(problem: Problem) -> bool:
    """Whether :func:`sample` draws uniformly for this problem."""
    return problem.n <= UNIFORM_COLOURS and Miller().refusal(problem) is None


def sample(problem: Problem, count: int, seed: int | None = None) -> Iterator[Arrangement]:
    """Draw arrangements at random, with replacement.

    Uniform for n ≤ UNIFORM_COLOURS: each step down is weighted with the exact number of
    completions.  For larger n by a randomised depth-first search: every arrangement can
    occur, but not all with the same probability.

    Raises TooExpensive when there is nothing to draw, and MethodDoesNotApply.
    """
    _require_drawable(problem)
    random = Random(seed)
    draw = _uniform(problem, random) if is_uniform(problem) else _searched(problem, random)
    for _ in range(count):
        yield next(draw)


def find(problem: Problem) -> Arrangement:
    """An arrangement from a randomised search, which needs no kernel: quick, but not uniform for any n.

    Raises TooExpensive when there is none, and MethodDoesNotApply.
    """
    _require_drawable(problem)
    return next(_searched(problem, Random()))


def _require_drawable(problem: Problem) -> None:
    """Raises TooExpensive where there is no arrangement, or none would be found."""
    _require_reach(problem)
    if problem.obstruction:
        raise TooExpensive(f"{problem} has no arrangement to draw: {problem.obstruction}")


def _require_reach(problem: Problem) -> None:
    """Raises TooExpensive for a row in which no arrangement would be found, MethodDoesNotApply for a condition."""
    require_no_condition(problem)
    if problem.places > MAX_PLACES:
        raise TooExpensive(
            f"searches are limited to {MAX_PLACES} places; {problem} has {problem.places}: choose a smaller problem"
        )


def _uniform(problem: Problem, random: Random) -> Iterator[Arrangement]:
    import numpy as np

    from langford.kernels.cpu.compiled import compiled_once
    from langford.methods.backtracking.kernels.backtrack import count_by_largest
    from langford.methods.backtracking.order import SearchOrder, circle_of, folded_of, rows_of

    shapes, circle = SearchOrder.of(problem).shapes(problem), circle_of(problem)

    @cache
    def ways(free: int, unplaced: tuple[int, ...]) -> int:
        colours = np.array([d for d in unplaced if d], np.int64)
        holes = combinations((place for place in range(problem.places) if free >> place & 1), unplaced.count(0))
        frees = rows_of([free ^ sum(1 << place for place in chosen) for chosen in holes], problem)
        if not len(colours):
            return len(frees)
        return int(count_by_largest(frees, colours, problem.copies, shapes, 0, circle, folded_of(problem))[0])

    kind = rows_of([problem.free_mask], problem).ndim, circle is not None, problem.fold > 1
    with compiled_once("draws", *kind, of="random draws"):
        ways(problem.free_mask, _unplaced(problem))
    while True:
        free, unplaced, placed = problem.free_mask, _unplaced(problem), []
        while unplaced:
            options = list(_covering(problem, free, unplaced))
            weights = [ways(free ^ mask, _without(unplaced, d)) for d, mask in options]
            if not any(weights):
                raise TooExpensive(f"{problem} has no arrangement to draw")
            placed.append(random.choices(options, weights)[0])
            free, unplaced = free ^ placed[-1][1], _without(unplaced, placed[-1][0])
        yield _labelled(problem, tuple(placed))


def _searched(problem: Problem, random: Random) -> Iterator[Arrangement]:
    """First finds of randomised searches, each abandoned after PATIENCE steps."""
    while True:
        left = [PATIENCE]
        placed = next(_extend(problem, problem.free_mask, _unplaced(problem), random, left), None)
        if placed is not None:
            yield _labelled(problem, placed)
        elif left[0] >= 0:
            raise TooExpensive(f"{problem} has no arrangement to draw")  # all were tried


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
