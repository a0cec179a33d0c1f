"""Slow and obvious: the definitions, with none of the project's counting code."""

from __future__ import annotations

from itertools import product
from math import prod

from langford.problem import Problem


def arrangements(problem: Problem) -> int:
    """Place the colours one by one, in every way, on a set of free places."""

    def place(colours: list[int], free: frozenset[int]) -> int:
        if not colours:
            return 1
        total = 0
        for start in free:
            cubes = {start + colours[0] * copy for copy in range(problem.copies)}
            if problem.circle:
                cubes = {(place - 1) % problem.places + 1 for place in cubes}
                if 2 * colours[0] == problem.places and start not in range(1, colours[0] + 1):
                    continue  # the same pair from its other end
            if cubes <= free:
                total += place(colours[1:], free - cubes)
        return total

    return place(sorted(problem.differences, reverse=True), frozenset(problem.filled))


def godfrey_sum(problem: Problem) -> int:
    """Σ over all signs of Π x · Π S_d, straight from the definition."""
    total = 0
    for signs in product((1, -1), repeat=len(problem.filled)):
        x = dict(zip(problem.filled, signs, strict=True))
        sums = [sum(x[k] * x[k + d] for k in problem.filled if k + d in x) for d in problem.differences]
        total += prod(signs) * prod(sums)
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
