"""Knuth's estimate of a count by random walks.

D. E. Knuth, "Estimating the efficiency of backtrack programs" (Math. Comp. 29, 1975): walk
down the search tree choosing uniformly among the children; the product of the numbers of
children on the way is an unbiased estimate of the number of leaves.  Here a walk places the
largest colours and the exact number of completions takes the place of the last levels,
which lowers the variance and keeps the estimate unbiased.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from langford.errors import BadInput, BadSeed, MethodDoesNotApply, whole
from langford.kernels.cpu.compiled import compiled_once
from langford.methods.backtracking import Miller
from langford.methods.backtracking.kernels.backtrack import random_walks
from langford.methods.backtracking.order import SearchOrder, circle_of, colours_at_random, folded_of
from langford.problem import Problem

EXACT_COLOURS = 9
"""Colours left to the exact count at the end of a walk, at most."""
MIN_FRUITFUL = 30
"""Walks that found an arrangement: the spread of fewer does not show the error."""
MAX_WALKS = 10**9
"""The limit of memory: two numbers are kept for each walk."""


@dataclass(frozen=True)
class Estimate:
    """An estimate of the published count.

    Attributes:
        value: the mean over all walks; 0 where the problem has an obstruction.
        standard_error: of the mean; a 95% interval is value ± 1.96 · standard_error.  Infinite with fewer fruitful
            walks than MIN_FRUITFUL.
        walks: number of walks; 0 where the problem has an obstruction: the value is exact.
        fruitful: walks that found at least one arrangement.
    """

    value: float
    standard_error: float
    walks: int
    fruitful: int


def estimate(problem: Problem, walks: int = 100_000, seed: int = 1) -> Estimate:
    """Estimate the published count from ``walks`` independent random walks.

    Reproducible: walk k depends on (seed, k) alone.  Raises BadInput; BadSeed unless the seed is below 2⁶⁴;
    MethodDoesNotApply where no search counts the problem.
    """
    walks, seed = whole("the number of walks", walks, BadInput), whole("a seed", seed, BadSeed)
    if not 1 <= walks <= MAX_WALKS:
        raise BadInput(f"the number of walks must be from 1 to {MAX_WALKS:,}, not {walks}")
    if not 0 <= seed < 2**64:
        raise BadSeed(f"the seed of an estimate must be from 0 to {2**64 - 1}, not {seed}")
    reason = Miller().refusal(problem)
    if reason:
        raise MethodDoesNotApply(f"cannot estimate {problem}: {reason}")
    if problem.obstruction:
        return Estimate(0.0, 0.0, 0, 0)
    order = SearchOrder.of(problem)
    switch = colours_at_random(problem.n, EXACT_COLOURS)
    tree = (
        order.roots(problem),
        np.array(order.differences[1:], np.int64),
        problem.copies,
        order.shapes(problem),
        switch - 1,
    )
    with compiled_once("walk", tree[0].ndim, problem.circle, problem.fold > 1, of="random walks"):
        random_walks(*tree, 1, np.uint64(seed), circle_of(problem), folded_of(problem))
    leaves, _ = random_walks(*tree, walks, np.uint64(seed), circle_of(problem), folded_of(problem))
    arrangements = leaves * (order.weight / order.orders(switch))
    published = (arrangements + problem.self_mirrored) / problem.images
    fruitful = int(np.count_nonzero(leaves))
    error = float(published.std(ddof=1)) / sqrt(walks) if fruitful >= MIN_FRUITFUL else float("inf")
    return Estimate(float(published.mean()), error, walks, fruitful)
