"""Slow and obvious: the definitions, with none of the project's counting code."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product
from math import factorial, prod

from langford.problem import Problem


@cache
def arrangements(problem: Problem) -> int:
    """Place the colours one by one, in every way, on a set of free places."""

    def place(colours: list[int], free: frozenset[int]) -> int:
        if not colours:
            return 1
        total = 0
        for start in free:
            cubes = {start + colours[0] * copy for copy in range(problem.copies)}
            if cubes <= free:
                total += place(colours[1:], free - cubes)
        return total

    if problem.circle:
        colours = sum(1 << d for d in problem.differences)
        return on_a_circle(colours, problem.free_mask, problem.places, problem.loose)
    told_apart = place(sorted(problem.differences, reverse=True), frozenset(problem.filled))
    return told_apart // prod(map(factorial, Counter(problem.differences).values()))


@cache
def on_a_circle(differences: int, free: int, places: int, holes: int = 0) -> int:
    """The number of ways to fill a circle but for some holes, its last free place first.

    Bit d of ``differences`` stands for the difference d, bit k − 1 of ``free`` for place k.
    """
    if not free:
        return int(not differences)
    first = free.bit_length() - 1
    left_empty = on_a_circle(differences, free ^ 1 << first, places, holes - 1) if holes else 0
    others = (place for place in range(first) if free >> place & 1)
    found = ((place, min(first - place, places + place - first)) for place in others)
    return left_empty + sum(
        on_a_circle(differences ^ 1 << d, free ^ 1 << first ^ 1 << place, places, holes)
        for place, d in found
        if differences >> d & 1
    )


def godfrey_sum(problem: Problem) -> int:
    """Σ over all signs of Π x · Π S_d, times Σ x for each hole anywhere, straight from the definition."""
    total = 0
    for signs in product((1, -1), repeat=len(problem.filled)):
        x = dict(zip(problem.filled, signs, strict=True))
        sums = [sum(x[k] * x[k + d] for k in problem.filled if k + d in x) for d in problem.differences]
        total += prod(signs) * prod(sums) * sum(signs) ** problem.loose
    return total


def orbit(component: int, length: int, alternation: int, negation: int) -> set[int]:
    """All images of a polyphase component under reversal of its elements and two xor masks."""
    places = sorted(range(length), key=lambda k: (min(k, length - 1 - k), k))  # element of each bit, from the top
    found, fresh = set(), {component}
    while fresh:
        found |= fresh
        images = {each ^ mask for each in fresh for mask in (alternation, negation)}
        for each in fresh:
            elements = {place: each >> length - 1 - bit & 1 for bit, place in enumerate(places)}
            images.add(sum(elements[length - 1 - place] << length - 1 - bit for bit, place in enumerate(places)))
        fresh = images - found
    return found
