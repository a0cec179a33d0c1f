"""The search of backtracking as a breadth-first search over states: the free places after each colour.

Placements that leave the same places free have the same completions, so they are one state, which remembers in how
many ways it is reached.  Sums from below give what lies under each state without ever visiting all placements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langford.errors import BadDepth, MethodDoesNotApply
from langford.irregular.arrays import present_bytes, require_memory
from langford.irregular.errors import TooWide
from langford.kernels.cpu.backtrack import count_starts, feasible
from langford.kernels.cpu.compiled import compiled_once
from langford.methods.backtracking.order import SearchOrder, refusal
from langford.problem import Problem

EXACT = 2.0**53


@dataclass(frozen=True)
class StateLevel:
    """The states with the same number of colours placed.

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
    frees: NDArray[np.uint64]
    ways: NDArray[np.int64]
    indptr: NDArray[np.int64]
    children: NDArray[np.int64]
    nodes_below: NDArray[np.int64]
    arrangements: NDArray[np.int64]

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

    def unrolled(self) -> NDArray[np.int64]:
        """The search tree as parents, int64[nodes + 1]: vertex 0 stands for the empty row, then level by level."""
        parents, states = [np.zeros(1 + self.levels[0].nodes, np.int64)], np.arange(len(self.levels[0].frees))
        before = 1
        for level in self.levels[:-1]:
            begins, ends = level.indptr[states], level.indptr[states + 1]
            counts = ends - begins
            parents.append(np.repeat(np.arange(len(states)) + before, counts))
            before += len(states)
            within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            states = level.children[np.repeat(begins, counts) + within]
        return np.concatenate(parents)


def search_states(problem: Problem, depth: int | None = None) -> SearchStates:
    """Search a problem by states, down to ``depth`` colours placed (all of them by default).

    Raises MethodDoesNotApply, BadDepth, TooLarge; TooWide when more than 2⁵³ placements lie below a state.
    """
    reason = refusal(problem)
    if reason:
        raise MethodDoesNotApply(f"a search by states cannot take {problem.name}: {reason}")
    last = problem.n if depth is None else depth
    if not 1 <= last <= problem.n:
        raise BadDepth(f"the states of {problem.name} have depths 1..{problem.n}, not {last}")
    order = SearchOrder.of(problem)
    shapes = order.shapes(problem)
    frees, ways = merged(order.roots(problem), None)
    found = []
    with compiled_once("backtracking-plan", frees.ndim):
        for placed in range(1, last):
            difference = order.differences[placed]
            counts = count_starts(frees, difference, problem.copies)
            # The children, their order and their places, twice while they are sorted.
            require_memory(f"depth {placed + 1} of {problem.name}", int(counts.sum()) * 48, present_bytes())
            indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
            below = feasible(frees, difference, problem.copies, shapes)
            next_frees, places = np.unique(below, axis=0, return_inverse=True)
            places = places.ravel()
            _require_exact(ways, counts)
            next_ways = np.zeros(len(next_frees), np.int64)
            np.add.at(next_ways, places, np.repeat(ways, counts))
            found.append((frees, ways, indptr, places))
            frees, ways = next_frees, next_ways
    found.append((frees, ways, np.empty(0, np.int64), np.empty(0, np.int64)))
    return SearchStates(problem, order, _from_below(found, last == problem.n))


def merged(
    frees: NDArray[np.uint64], ways: NDArray[np.int64] | None
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Sorted different rows, and in how many ways each is reached."""
    different, places = np.unique(frees, axis=0, return_inverse=True)
    total = np.zeros(len(different), np.int64)
    np.add.at(total, places.ravel(), 1 if ways is None else ways)
    return different, total


def _from_below(
    found: list[tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]], complete: bool
) -> list[StateLevel]:
    """The levels with their sums, computed from the last one up."""
    levels: list[StateLevel] = []
    for depth in range(len(found), 0, -1):
        frees, ways, indptr, children = found[depth - 1]
        nodes, arrangements = np.zeros(len(frees), np.int64), np.zeros(len(frees), np.int64)
        if depth == len(found):
            arrangements += complete
        else:
            below = levels[-1]
            nodes = sums(indptr, 1 + below.nodes_below[children])
            arrangements = sums(indptr, below.arrangements[children])
        levels.append(StateLevel(depth, frees, ways, indptr, children, nodes, arrangements))
    return levels[::-1]


def sums(indptr: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of each row's values; raises TooWide when all together pass 2⁵³."""
    if float(values.sum(dtype=np.float64)) > EXACT:
        raise TooWide("more than 2^53 placements lie below one level: choose a smaller depth or problem")
    totals = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    return np.asarray(totals[indptr[1:]] - totals[indptr[:-1]])


def _require_exact(ways: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    if float(ways.astype(np.float64) @ counts) > EXACT:
        raise TooWide("more than 2^53 placements at one depth: choose a smaller depth or problem")
