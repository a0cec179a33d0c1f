"""The search of backtracking as a breadth-first search over states: the free places after each colour.

Placements that leave the same places free have the same completions, so they are one state, which remembers in how
many ways it is reached.  Sums from below give what lies under each state without ever visiting all placements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from langford.errors import BadDepth, MethodDoesNotApply
from langford.irregular.arrays import Array, module_of, stable_order
from langford.irregular.errors import TooWide
from langford.irregular.memory import require_memory
from langford.irregular.places import place_of
from langford.irregular.rows import row_sums
from langford.kernels.cpu.compiled import compiled_once
from langford.methods.backtracking import Miller
from langford.methods.backtracking.kernels.backtrack import count_starts, feasible
from langford.methods.backtracking.limits import WORD_PLACES
from langford.methods.backtracking.order import SearchOrder
from langford.problem import Problem

EXACT = 2.0**53


@dataclass(frozen=True)
class StateLevel:
    """The states with the same number of colours placed, in arrays of NumPy or of CuPy.

    Attributes:
        depth: colours placed.
        frees: their free places, sorted, uint64[·] or uint64[·, 2] (langford.methods.backtracking.order.rows_of).
        ways: in how many ways each is reached, int64[·]: placements of the search tree.
        indptr: where the children of each state begin, int64[· + 1]; of length 0 at the last level.
        children: the places of the children in the next level, one per placement of the next colour, int64[·].
        nodes_below: placements below each state, down to the last level, int64[·].
        arrangements: completions of each state, int64[·]; zeros unless the last level has all colours.
    """

    depth: int
    frees: Array
    ways: Array
    indptr: Array
    children: Array
    nodes_below: Array
    arrangements: Array

    @property
    def nodes(self) -> int:
        """Placements of the search tree at this depth: the tasks of a plan."""
        return int(self.ways.sum())


@dataclass(frozen=True)
class SearchStates:
    """The states of a search.

    Attributes:
        problem: what is searched.
        order: the order of its colours.
        levels: from one colour placed to the last depth.
    """

    problem: Problem
    order: SearchOrder
    levels: list[StateLevel]

    @property
    def arrangements(self) -> int:
        """All arrangements, mirror images apart; 0 unless the last level has all colours."""
        first = self.levels[0]
        return self.order.weight * int((first.ways * first.arrangements).sum())


def search_states(problem: Problem, depth: int | None = None, device: str = "cpu") -> SearchStates:
    """Search a problem by states.

    Args:
        problem: what is searched.
        depth: the number of colours placed at the last level; None: all.
        device: "cuda" searches on GPU 0, with arrays of CuPy in the levels; up to 64 places.

    Raises MethodDoesNotApply, BadDepth, BadInput, TooLarge, NoGpu; TooWide when more than 2⁵³ placements lie below
    a state.
    """
    place = place_of(device)
    reason = "its row is a circle" if problem.circle else Miller().refusal(problem)
    if reason is None and place.on_gpu and problem.places > WORD_PLACES:
        reason = f"a GPU takes rows of up to {WORD_PLACES} places"
    if reason:
        raise MethodDoesNotApply(f"cannot search {problem.name} by states: {reason}")
    last = problem.n if depth is None else depth
    if not 1 <= last <= problem.n:
        raise BadDepth(f"the depth for {problem.name} must be from 1 to {problem.n}, not {last}")
    order = SearchOrder.of(problem)
    xp = place.xp
    with compiled_once("backtracking-plan", order.roots(problem).ndim):
        from_above = _from_above(problem, order, last, xp, place.free_bytes)
    return SearchStates(problem, order, _from_below(from_above, last == problem.n))


def _from_above(
    problem: Problem, order: SearchOrder, last: int, xp: Array, present: Callable[[], int]
) -> list[tuple[Array, Array, Array, Array]]:
    """The states of each level, in how many ways each is reached, and its children (StateLevel)."""
    shapes = order.shapes(problem)
    roots = xp.asarray(order.roots(problem))
    frees, ways, _ = merged(roots, xp.ones(len(roots), np.int64))
    from_above = []
    for placed in range(1, last):
        difference = order.differences[placed]
        if xp is np:
            counts = count_starts(frees, difference, problem.copies)
        else:
            fitting = starts_of_words(frees, difference, problem.copies)
            counts = sum((fitting >> np.uint64(place) & np.uint64(1)).astype(np.int64) for place in range(64))
        # The children, twice while they are sorted, and their parents, order, ways and places.
        needed = int(counts.sum()) * (72 + 3 * frees[:1].nbytes)
        require_memory(f"depth {placed + 1} of {problem.name}", needed, present())
        indptr = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(counts)])
        if xp is np:
            below = feasible(frees, difference, problem.copies, shapes)
        else:
            below = children_of_words(frees, fitting, shapes[difference])
        _require_exact(ways, counts)
        parents = xp.searchsorted(indptr, xp.arange(len(below)), side="right") - 1
        next_frees, next_ways, places = merged(below, ways[parents])
        from_above.append((frees, ways, indptr, places))
        frees, ways = next_frees, next_ways
    nothing = xp.empty(0, np.int64)
    return [*from_above, (frees, ways, nothing, nothing)]


def starts_of_words(frees: Array, difference: int, copies: int) -> Array:
    """Bit k is set where a colour fits with its first cube on bit k, uint64[·]; without a kernel."""
    fitting = frees.copy()
    for copy in range(1, copies):
        fitting &= frees >> np.uint64(copy * difference) if copy * difference < WORD_PLACES else np.uint64(0)
    return fitting


def children_of_words(frees: Array, fitting: Array, shape: np.uint64) -> Array:
    """The free places after one colour in every way, uint64[·], row by row in the order of the places."""
    xp = module_of(frees)
    rows, below = [], []
    for place in range(WORD_PLACES):
        chosen = xp.flatnonzero(fitting >> np.uint64(place) & np.uint64(1))
        rows.append(chosen)
        below.append(frees[chosen] ^ np.uint64(int(shape) << place & 2**64 - 1))
    return xp.concatenate(below)[stable_order(xp.concatenate(rows))]


def merged(frees: Array, ways: Array) -> tuple[Array, Array, Array]:
    """Sorted different rows, in how many ways each is reached, and where each of ``frees`` is among them."""
    xp = module_of(frees)
    if frees.ndim == 2:
        order = xp.lexsort(frees.T[::-1])
        change = (frees[order[1:]] != frees[order[:-1]]).any(axis=1)
    else:
        order = stable_order(frees)
        change = frees[order[1:]] != frees[order[:-1]]
    begins = xp.concatenate([xp.zeros(min(len(frees), 1), np.int64), xp.flatnonzero(change) + 1])
    places = xp.empty(len(frees), np.int64)
    places[order] = xp.concatenate([xp.zeros(min(len(frees), 1), np.int64), xp.cumsum(change)])
    totals = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(ways[order])])
    ends = xp.concatenate([begins[1:], xp.full(min(len(frees), 1), len(frees), np.int64)])
    return frees[order[begins]], totals[ends] - totals[begins], places


def _from_below(from_above: list[tuple[Array, Array, Array, Array]], complete: bool) -> list[StateLevel]:
    """The levels with their sums, computed from the last one up."""
    levels: list[StateLevel] = []
    for depth in range(len(from_above), 0, -1):
        frees, ways, indptr, children = from_above[depth - 1]
        xp = module_of(ways)
        nodes, arrangements = xp.zeros(len(frees), np.int64), xp.zeros(len(frees), np.int64)
        if depth == len(from_above):
            arrangements += int(complete)
        else:
            below = levels[-1]
            nodes = sums(indptr, 1 + below.nodes_below[children])
            arrangements = sums(indptr, below.arrangements[children])
        levels.append(StateLevel(depth, frees, ways, indptr, children, nodes, arrangements))
    return levels[::-1]


def sums(indptr: Array, values: Array) -> Array:
    """The sum of each row's values; raises TooWide when all together pass 2⁵³."""
    if float(values.astype(np.float64).sum()) > EXACT:
        raise TooWide("more than 2^53 placements lie below one level: choose a smaller depth or problem")
    return row_sums(indptr, values)


def _require_exact(ways: Array, counts: Array) -> None:
    if float((ways.astype(np.float64) * counts).sum()) > EXACT:
        raise TooWide("more than 2^53 placements at one depth: choose a smaller depth or problem")
