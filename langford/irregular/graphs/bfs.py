"""Breadth-first search with a change of direction (Loiseau's thesis, section 2.4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from langford.errors import BadInput, whole
from langford.irregular.arrays import Array, module_of, on_gpu, require_choice, steps_to_end
from langford.irregular.cpu.bfs import search
from langford.irregular.graphs.graph import Graph, require_root
from langford.irregular.levels import DIRECTIONS, MAX_LEVELS, Direction, Level, recorded_levels


@dataclass(frozen=True)
class Bfs:
    """The tree of a breadth-first search.

    Attributes:
        parent: of each vertex, [n]; the root is its own parent, −1: not reached.  Which of several possible
            parents it is depends on the direction.
        levels: the first MAX_LEVELS levels, from the root.
    """

    parent: Array
    levels: list[Level]

    @cached_property
    def depth(self) -> Array:
        """Edges from the root to each vertex, int32 or int64[n], −1: not reached; computed when first used."""
        xp, reached = module_of(self.parent), self.parent >= 0
        steps, _ = steps_to_end(xp.where(reached, self.parent, xp.arange(len(self.parent))))
        return xp.where(reached, steps, -1).astype(self.parent.dtype)


def bfs(graph: Graph, root: int, direction: Direction = "auto") -> Bfs:
    """Search breadth first from a vertex.

    Args:
        graph: its edges are followed from source to target.
        root: a vertex.
        direction: "down": every level from its frontier; "up": every level from the unreached vertices; "auto":
            whichever looks at fewer edges, level by level.

    Raises BadInput.
    """
    require_choice("direction", direction, DIRECTIONS)
    root = whole("the root", root, BadInput)
    require_root(root, graph.n)
    if on_gpu(graph.indptr):
        return Bfs(*graph.gpu_graph.search(root, direction))
    back = graph if direction == "down" else graph.reversed
    parent = np.full(graph.n, -1, graph.indices.dtype)
    levels = np.empty((MAX_LEVELS, 3), np.int64)
    count = search(
        graph.indptr, graph.indices, back.indptr, back.indices, root, DIRECTIONS[direction], parent, levels
    )
    return Bfs(parent, recorded_levels(levels[:count]))
