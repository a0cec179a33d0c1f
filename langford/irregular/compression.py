"""Path compression over the levels of a tree (Rostrup, Srivastava, Singhal), by Blelloch's scan.

The levels are counted from the deepest one, position 0 + offset, up to the roots.  A reduction M_i brings the
positions whose number has i trailing ones what lies up to 2^i levels below; a distribution N_i brings the others
what is complete.  Each entry leads from a vertex to its ancestor 2^(i−1) levels above: a tree of height h takes
2·log2(h) sparse products, however it is shaped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langford.irregular.arrays import Array, module_of, stable_order

ADD, MULTIPLY, LEAST, LARGEST, XOR = range(5)
OPERATORS = {"add": ADD, "mul": MULTIPLY, "min": LEAST, "max": LARGEST, "xor": XOR}
"""What accumulations combine with, by the numbers that kernels take; as in operators.cuh."""


@dataclass(frozen=True)
class SparseStep:
    """A sparse matrix: each entry leads from a vertex to an ancestor, and no target is a source.

    Attributes:
        targets, sources: of each entry, [·], the targets in rising order.
        factors: products of what lies on the way, [·]; None where only the places matter.
    """

    targets: Array
    sources: Array
    factors: Array | None


def best_offset(vertices_at: NDArray[np.int64], turns: int = 8) -> tuple[int, int]:
    """The offset of the positions for which the matrices have the fewest entries, and how many more they have
    than one per vertex.

    Args:
        vertices_at: vertices of each level, the deepest first.
        turns: how many bits of the offset are tried both ways.

    A vertex whose number (position + offset + 1) has t trailing zeros is the source of 1 + t entries at most.
    """
    if len(vertices_at) < 2 or turns == 0:
        return 0, 0
    choices = []
    for odd in (0, 1):
        # The levels of this parity get even numbers.
        even = vertices_at[odd::2]
        offset, more = best_offset(even, turns - 1)
        choices.append((more + int(even.sum()), 2 * offset + 1 - odd))
    more, offset = min(choices)
    return offset, more


def compress(above: Array, depth: Array, factors: Array | None = None) -> list[SparseStep]:
    """The steps of an upward accumulation, M_1 … M_k and N_k … N_1; the transposed ones, in reverse, go downwards.

    Args:
        above: the parents of a forest, [n]; a root is its own.
        depth: edges from each vertex up to the root, [n].
        factors: of the edge from each vertex to its parent, float[n]; None: only the places matter.
    """
    xp = module_of(above)
    n = len(above)
    height = int(depth.max()) if n else 0
    if height == 0:
        return []
    vertices_at = xp.bincount(height - depth, minlength=height + 1)
    offset, _ = best_offset(vertices_at.get() if xp is not np else vertices_at)
    # The number of a position, from 1: as many trailing zeros as the position has trailing ones.
    number = height - depth.astype(xp.int64) + offset + 1
    reductions: list[SparseStep] = []
    distributions: list[SparseStep] = []
    waiting = xp.flatnonzero(above != xp.arange(n))
    ancestor = above.astype(xp.int64)
    product = None if factors is None else factors.copy()
    phase = 0
    while len(waiting):
        # Here ``ancestor`` is 2^phase levels above, for every waiting vertex; they are at multiples of 2^phase.
        odd = (number[waiting] >> phase) & 1 == 1
        for chosen, steps in ((waiting[odd], reductions), (waiting[~odd], distributions)):
            if len(chosen):
                chosen = chosen[stable_order(ancestor[chosen])]
                steps.append(SparseStep(ancestor[chosen], chosen, None if product is None else product[chosen]))
        # A vertex continues to the next phase when it and its next ancestor are there.
        waiting = waiting[~odd]
        phase += 1
        waiting = waiting[depth[waiting] >= 1 << phase]
        halfway = ancestor[waiting]
        if product is not None:
            product[waiting] = product[waiting] * product[halfway]
        ancestor[waiting] = ancestor[halfway]
    return reductions + distributions[::-1]
