"""What a plan and an estimate only guess, exactly: the sizes of tasks, and the spread of random walks."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, sqrt

import numpy as np

from langford.errors import BadDepth
from langford.irregular.arrays import on_host
from langford.irregular.rows import row_sums
from langford.irregular.trees.search_states import SearchStates, StateLevel, search_states
from langford.methods import METHODS
from langford.methods.backtracking.estimation import EXACT_COLOURS
from langford.methods.backtracking.order import colours_at_random
from langford.methods.backtracking.plan import MAX_TASKS, BacktrackingPlan
from langford.problem import Problem


@dataclass(frozen=True)
class LevelSizes:
    """The tasks of one depth.

    Attributes:
        depth: colours placed.
        nodes: placements: the tasks of a backtracking plan at this depth.
        states: different free places among them.
        mean_below, sigma_below, largest_below: of the placements below a task.
        work_error: root mean square of plan.work / mean − placements below / mean over the tasks; None where the
            list of tasks would be too long, or nothing lies below.
    """

    depth: int
    nodes: int
    states: int
    mean_below: float
    sigma_below: float
    largest_below: int
    work_error: float | None


@dataclass(frozen=True)
class WalkSpread:
    """One walk of ``langford estimate``.

    Attributes:
        switch: colours that it places at random.
        relative_sigma: the standard deviation of its value, divided by the count; None without arrangements.
        walks_for_1_percent: walks for a standard error of 1% of the count; None without arrangements.
    """

    switch: int
    relative_sigma: float | None
    walks_for_1_percent: int | None


@dataclass(frozen=True)
class SearchSizes:
    """The measures of a whole search.

    Attributes:
        arrangements: all arrangements, mirror images apart.
        count: the number as the literature counts it (see Problem.published).
        levels: down to the depth asked for.
        walk: the spread of the estimate.
    """

    arrangements: int
    count: int
    levels: list[LevelSizes]
    walk: WalkSpread


def search_sizes(problem: Problem, depth: int | None = None, device: str = "cpu") -> SearchSizes:
    """Measure the search tree of a problem.

    Args:
        problem: what is searched; all of its states must fit into memory.
        depth: the last depth to describe; by default all.
        device: "cpu", or "cuda" for GPU 0.

    Raises MethodDoesNotApply, BadDepth, TooLarge, TooWide, NoGpu.
    """
    states = search_states(problem, device=device)
    shown = states.levels if depth is None else [level for level in states.levels if level.depth <= depth]
    reached = states.arrangements
    return SearchSizes(
        reached, problem.published(reached), [_sizes(problem, level) for level in shown], walk_spread(states)
    )


def _sizes(problem: Problem, level: StateLevel) -> LevelSizes:
    # On the host: sums of floats depend on their order, and these shall be the same on every device.
    nodes, ways, below = level.nodes, on_host(level.ways), on_host(level.nodes_below).astype(np.float64)
    mean = float((ways * below).sum()) / nodes if nodes else 0.0
    variance = float((ways * (below - mean) ** 2).sum()) / nodes if nodes else 0.0
    return LevelSizes(
        level.depth,
        nodes,
        len(level.frees),
        mean,
        sqrt(variance),
        int(level.nodes_below.max()) if nodes else 0,
        _work_error(problem, level) if mean > 0 and nodes <= MAX_TASKS else None,
    )


def _work_error(problem: Problem, level: StateLevel) -> float | None:
    """How far the work that a plan expects is from what lies below its tasks, both as shares of the mean.

    None where the list of tasks of this depth, or of one above, would be too long.
    """
    try:
        plan = METHODS["miller"].plan(problem, level.depth)
    except BadDepth:
        return None
    assert isinstance(plan, BacktrackingPlan)
    _, places = np.unique(plan.frees, axis=0, return_inverse=True)
    below = on_host(level.nodes_below)[places.ravel()]
    difference = plan.work / plan.work.mean() - below / below.mean()
    return float(np.sqrt((difference**2).mean()))


def walk_spread(states: SearchStates) -> WalkSpread:
    """The exact spread of one walk, from its second moment.

    A walk multiplies the numbers of choices on its way, so it comes by a placement with the inverse of that
    probability as its weight: the mean of its square is the sum of weight · completions² over all placements.
    """
    problem, order = states.problem, states.order
    switch = colours_at_random(problem.n, EXACT_COLOURS)
    moments = states.levels[switch - 1].arrangements.astype(np.float64) ** 2
    for level in states.levels[switch - 2 :: -1] if switch > 1 else []:
        choices = level.indptr[1:] - level.indptr[:-1]
        moments = choices * row_sums(level.indptr, moments[level.children])
    roots = states.levels[0].nodes
    mean = states.arrangements / order.weight
    if mean == 0:
        return WalkSpread(switch, None, None)
    variance = roots * float((states.levels[0].ways * moments).sum()) - mean**2
    sigma = sqrt(max(variance, 0.0)) * order.weight / problem.images
    value = (mean * order.weight + problem.self_mirrored) / problem.images
    relative = sigma / value if value else inf
    return WalkSpread(switch, relative, max(1, ceil((100 * relative) ** 2)))
