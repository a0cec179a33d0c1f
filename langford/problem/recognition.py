"""Which problem an arrangement solves, what is wrong with one that solves none, and whether it is planar.

An arrangement has one label per place, 0 for an empty one, as in :mod:`langford.methods.backtracking.explicit`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product

from langford.errors import BadProblem, MethodDoesNotApply
from langford.problem.bounds import LISTED
from langford.problem.problem import Problem
from langford.problem.variants import DEFECT, HOLE, MISSING, SECOND_HOLE, VARIANTS, Variant
from langford.words import several, some

MOST = 3
"""How many faults are named."""


def recognised(arrangement: Sequence[int]) -> Problem:
    """The problem that an arrangement solves, of a named family where there is one.

    A row is tried first, then a circle.  Raises BadProblem, which names the wrong colours and their places.

    >>> print(recognised((3, 1, 2, 1, 3, 2)), recognised((1, 1, 2, 0, 2)), sep=", ")
    L(2,3), hooked Skolem(2,2)
    """
    places = places_of(arrangement)
    if not places:
        raise BadProblem("an arrangement has cubes: give one label per place, 0 for an empty one")
    for offset, problem in _readings(arrangement, places):
        if all(_grouped(problem, label + offset, at) for label, at in places.items()):
            return _of_a_family(problem, offset)
    # The convention that fits better is the one that was meant.
    found = min(([*_faults(places, len(arrangement), offset, False)] for offset in (1, 0)), key=len)
    more = f"; and {several(len(found) - MOST, 'more fault')}" if len(found) > MOST else ""
    raise BadProblem(f"this is not an arrangement: {'; '.join(found[:MOST])}{more}")


def labelled(problem: Problem, arrangement: Sequence[int]) -> tuple[int, ...]:
    """An arrangement of a problem with the labels of its family; it may have those of another family.

    Raises BadProblem, which names what is wrong with it, by the family's labels, and MethodDoesNotApply.

    >>> labelled(Problem.parse("differences 3 over 4 empty 2,3"), (2, 0, 0, 2))
    (3, 0, 0, 3)
    """
    require_no_condition(problem)
    if len(arrangement) != problem.places:
        raise BadProblem(f"it has {several(len(arrangement), 'place')}, not {problem.places}")
    wanted = Counter(
        {problem.label(d): problem.copies * number for d, number in Counter(problem.differences).items()}
    )
    own = problem.differences[0] - problem.label(problem.differences[0])
    for offset in (own, 1 - own):
        row = tuple(label and problem.label(label + offset) for label in arrangement)
        right = Counter(filter(None, row)) == wanted and not any(row[place - 1] for place in problem.empty)
        if right and all(_grouped(problem, label + own, places) for label, places in places_of(row).items()):
            return row
    cubes = Counter(filter(None, arrangement))
    found = [
        *(f"place {place} has a cube and must be empty" for place in problem.empty if arrangement[place - 1]),
        *(
            f"colour {label} has {several(cubes[label], 'cube')}, not {wanted[label]}"
            for label in sorted({*cubes, *wanted})
            if cubes[label] != wanted[label]
        ),
    ]
    if problem.fold == 1:
        places = {label: at for label, at in places_of(arrangement).items() if cubes[label] == wanted[label]}
        found += _faults(places, len(arrangement), own, problem.circle)
    more = f"; and {several(len(found) - MOST, 'more fault')}" if len(found) > MOST else ""
    raise BadProblem("; ".join(found[:MOST] or ["its cubes do not form pairs"]) + more)


def require_no_condition(problem: Problem) -> None:
    """Raises MethodDoesNotApply where it is unknown which arrangements satisfy the condition of a problem."""
    if problem.condition:
        raise MethodDoesNotApply(
            f"arrangements of {problem} cannot be listed, drawn or checked: this program cannot tell which are "
            f"{problem.condition}"
        )


def _grouped(problem: Problem, difference: int, places: Sequence[int]) -> bool:
    """Whether places are those of the colours with a difference."""
    left = {*places}
    while left:
        first = min(left)
        groups = [{first + difference * copy for copy in range(problem.copies)}]
        if problem.circle:
            groups.append({first, first + problem.places - difference})
        group = next((each for each in groups if each <= left), None)
        if group is None:
            return False
        left -= group
    return True


def is_planar(arrangement: Sequence[int]) -> bool:
    """Whether lines from each cube to the next of its colour, above or below the row, can be without a crossing.

    >>> is_planar((2, 3, 1, 2, 1, 3)), is_planar((4, 1, 3, 1, 2, 4, 3, 2))
    (True, False)
    """
    lines = [pair for places in places_of(arrangement).values() for pair in pairwise(places)]
    crossing: dict[tuple[int, int], list[tuple[int, int]]] = {line: [] for line in lines}
    for first, second in combinations(sorted(lines), 2):
        if first[0] < second[0] < first[1] < second[1]:
            crossing[first].append(second)
            crossing[second].append(first)
    above: dict[tuple[int, int], bool] = {}
    for line in lines:
        waiting = [line] if above.setdefault(line, True) is not None else []
        while waiting:
            this = waiting.pop()
            for other in crossing[this]:
                if other not in above:
                    above[other] = not above[this]
                    waiting.append(other)
                elif above[other] == above[this]:
                    return False
    return True


def places_of(arrangement: Sequence[int]) -> dict[int, list[int]]:
    """The places of each label, counted from 1."""
    places: dict[int, list[int]] = {}
    for place, label in enumerate(arrangement, 1):
        if label:
            places.setdefault(label, []).append(place)
    return places


def _faults(places: Mapping[int, list[int]], length: int, offset: int, circle: bool) -> Iterator[str]:
    """``offset``: the difference of a colour less its label."""
    numbers = Counter(map(len, places.values()))
    usual = max(2, min(numbers, key=lambda number: (-numbers[number], number), default=2))
    for label, at in sorted(places.items()):
        where = f"at place{'s' if len(at) > 1 else ''} {some(at, LISTED)}"
        if len(at) != usual:
            yield f"colour {label} has {several(len(at), 'cube')} ({where}), not {usual}"
        for first, second in pairwise(at):
            apart = second - first
            wanted = {label + offset, length - label - offset} if circle else {label + offset}
            if apart not in wanted:
                between = f"{several(apart - 1, 'cube')} between" if offset else f"{apart} apart"
                yield f"colour {label} is at {first} and {second}, {between}, not {label}"


def _readings(arrangement: Sequence[int], places: Mapping[int, list[int]]) -> Iterator[tuple[int, Problem]]:
    """The sets of differences that an arrangement may have, and for each a colour's difference less its label."""
    numbers = {*map(len, places.values())}
    number = numbers.pop()
    if numbers:
        return
    empty = [place for place, label in enumerate(arrangement, 1) if not label]
    for circle in (False, True):
        for fold, offset in product((fold for fold in range(1, number // 2 + 1) if number % fold == 0), (1, 0)):
            differences = [label + offset for label in places]
            if not circle or (number == 2 and 2 * max(differences) <= len(arrangement)):
                yield offset, Problem.from_differences(differences, None, empty, number // fold, circle, fold)


def _of_a_family(listed: Problem, offset: int) -> Problem:
    for variant in VARIANTS.values():
        named = _named(variant, listed) if variant.label_offset == offset else None
        if named is not None and _contains(named, listed):
            return named
    return listed


def _contains(family: Problem, listed: Problem) -> bool:
    """Whether a family has all arrangements of a problem without loose holes."""
    same = all(
        getattr(family, name) == getattr(listed, name)
        for name in ("circle", "differences", "places", "copies", "condition")
    )
    return same and {*family.empty} <= {*listed.empty}


def _named(variant: Variant, listed: Problem) -> Problem | None:
    """The member of a family with these differences and empty places, if there is one."""
    largest = listed.differences[-1]
    absent = [d for d in range(1, largest) if d not in listed.differences]
    guesses = {
        DEFECT.keyword: listed.differences[0],
        HOLE.keyword: listed.empty[0] if listed.empty else None,
        SECOND_HOLE.keyword: listed.empty[1] if len(listed.empty) > 1 else None,
        MISSING.keyword: absent[0] if absent else largest + 1,
    }
    taken = {each.keyword: guesses.get(each.keyword) for each in variant.parameters}
    try:
        n = len(listed.different) + variant.fewer
        return Problem.named(variant.name, n, listed.copies, listed.fold, 0, **taken)
    except BadProblem:
        return None
