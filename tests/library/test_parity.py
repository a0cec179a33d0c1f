"""One table: every method × every variant it counts × every n that takes about a tenth of a second.

Each count is compared with the published value, where there is one, and for small n with a
brute force that shares no code with the methods.  n without solutions are included: 0.
"""

from __future__ import annotations

import pytest

from langford.methods import METHODS, Count, merge
from langford.problem import Problem
from langford.problem.reference import SEQUENCES, Published, published
from tests.support.brute_force import arrangements

HOOKED = {"polyphase": 14, "shifted": 14, "shifted2": 14, "godfrey": 11, "miller": 10, "regular": 8}
LARGEST = {
    # (variant, copies): the largest n that each method counts in about a tenth of a second
    ("langford", 2): {"polyphase": 15, "shifted": 15, "shifted2": 15, "godfrey": 12, "miller": 12, "regular": 9},
    ("skolem", 2): {"polyphase": 13, "shifted": 13, "shifted2": 13, "godfrey": 12, "miller": 12, "regular": 9},
    ("hooked-skolem", 2): HOOKED,
    ("hooked-langford", 2): HOOKED,
    ("langford", 3): {"miller": 10, "regular": 8},
    ("skolem", 3): {"miller": 10, "regular": 8},
    ("langford", 4): {"miller": 10, "regular": 8},
    ("starter", 2): {"necklace": 12, "miller": 7, "regular": 7},
    ("cyclic-skolem", 2): {"necklace": 9, "miller": 9, "regular": 8},
}
BRUTE_FORCE_PLACES = 17
COUNTED = (1, 2, 3, 4, 6, 7, 8, 12, 15)
"""The n that are counted: some with and some without solutions in each family, one of each width."""

TABLE = {
    name: [
        Problem.named(variant, n, copies)
        for (variant, copies), limits in LARGEST.items()
        for n in COUNTED
        if n <= limits.get(name, 0) and method.refusal(Problem.named(variant, n, copies)) is None
    ]
    for name, method in METHODS.items()
}


def count(method: str, problem: Problem, depth: int | None = None) -> Count:
    """Evaluate every task of a plan and merge."""
    way = METHODS[method]
    plan = way.plan(problem, way.suggested_depth(problem) if depth is None else depth)
    return merge(plan, [plan.evaluate(index) for index in plan.tasks])


@pytest.mark.parametrize("method", TABLE)
def test_counts(method: str) -> None:
    problems = TABLE[method]
    assert any(problem.obstruction for problem in problems)
    assert any(not problem.obstruction for problem in problems)
    for problem in problems:
        found = count(method, problem)
        known = published(problem)
        small = problem.places <= BRUTE_FORCE_PLACES
        if known is not None:
            assert found.published == known, problem
        if small:
            assert found.arrangements == arrangements(problem), problem
        if known is None and not small:
            # No outside value: what the first other method finds, which shares least with the sums if it searches.
            limits = LARGEST[problem.variant, problem.copies]
            others = (name for name in ("miller", "shifted", "polyphase", "regular", "necklace") if name != method)
            other = next(name for name in others if limits.get(name, 0) >= problem.n)
            assert found.arrangements == count(other, problem).arrangements, problem


@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=lambda sequence: sequence.name)
def test_published_counts_are_possible(sequence: Published) -> None:
    for index, term in sequence.terms.items():
        assert term == 0 or sequence.problem(index).obstruction is None


@pytest.mark.parametrize("method", [method for method in METHODS if method != "necklace"])
def test_every_depth_merges_to_the_same_count(method: str) -> None:
    """That of the necklaces: :mod:`tests.library.test_circles`."""
    for problem in (Problem.langford(7), Problem.skolem(5), Problem.named("hooked-skolem", 6), Problem.langford(6)):
        if METHODS[method].refusal(problem) is None:
            for depth in METHODS[method].depths(problem):
                if depth <= 12:
                    assert count(method, problem, depth).arrangements == arrangements(problem), (problem, depth)


@pytest.mark.parametrize(("places", "first"), [(65, 50), (128, 113)])
@pytest.mark.parametrize("method", ["miller", "regular"])
def test_rows_of_two_words(method: str, places: int, first: int) -> None:
    # L(2,8) somewhere in a long row of empty places, on either side of the words' border or across it.
    within = range(first, first + 16)
    problem = Problem.from_differences(range(2, 10), places, [k for k in range(1, places + 1) if k not in within])
    assert count(method, problem).arrangements == 300


@pytest.mark.parametrize("method", ["miller", "regular"])
def test_rows_of_two_words_full_of_cubes(method: str) -> None:
    # Colours of 22 cubes at the distance of 3: each fills a third of the row.
    problem = Problem.from_differences([3], 69, [k for k in range(1, 70) if k % 3], 23)
    assert count(method, problem).arrangements == 1
    assert count(method, Problem.langford(5, 16)).arrangements == 0
