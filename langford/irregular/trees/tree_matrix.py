"""Symmetric matrices whose graph is a forest: LDLᵀ has no fill, and solving is two accumulations."""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import Any, Literal, get_args

import numpy as np

from langford.errors import BadInput
from langford.irregular.arrays import (
    Array,
    module_of,
    on_gpu,
    on_host,
    require_choice,
    require_length,
    require_numbers,
)
from langford.irregular.compression import SparseStep, compress
from langford.irregular.cpu.tree import factorise, multiply_add, solve_downwards, solve_upwards
from langford.irregular.trees.tree import Tree

SolveMethod = Literal["compression", "levels"]
METHODS = get_args(SolveMethod)


class TreeMatrix:
    """A symmetric matrix A = LDLᵀ with the graph of a forest, prepared for many right sides.

    L is eliminated from the leaves: L[parent[v], v] = edge[v] / D[v].  With the method ``compression`` a
    triangular solve takes 2·log2(height) sparse products of compressed edges, with ``levels`` one pass over the
    vertices; a GPU does either in one launch.  A core factorises, once.  The relative residual of a solve of a
    positive definite matrix is a small multiple of γ(4·height + 4)·cond(A); the tests state it.

    Attributes:
        tree: the forest.
        pivots: the diagonal D, float64[n].
        factors: −L[parent[v], v], 0 for a root, float64[n].
    """

    def __init__(self, parent: Array, diagonal: Array, edge: Array) -> None:
        """
        Args:
            parent: a forest, int32 or int64[n].
            diagonal: A[v, v], float64[n].
            edge: A[v, parent[v]], float64[n]; ignored for roots.

        Raises BadInput; where an entry is not finite, or a pivot is 0 or overflows, the message names the vertex.
        """
        self.tree = Tree(parent)
        xp = module_of(self.tree.above, diagonal, edge)
        for name, array in (("diagonal", diagonal), ("edge", edge)):
            require_length(name, array, len(parent), "vertex")
            require_numbers(name, array)
        pivots, edges = diagonal.astype(xp.float64), edge.astype(xp.float64)
        on_core = on_host(pivots)
        zero = factorise(on_host(self.tree.above), on_host(self.tree.order), on_host(edges), on_core)
        pivots = xp.asarray(on_core)
        if zero >= 0:
            raise BadInput(f"the pivot of vertex {zero} is zero: LDLᵀ does not exist; add to the diagonal")
        endless = xp.flatnonzero(~xp.isfinite(pivots))
        if len(endless):
            raise BadInput(
                f"the pivot of vertex {int(endless[0])} exceeds the range of a float: divide by a common factor"
            )
        self.pivots = pivots
        # Of each method that was used on a GPU, its steps as they are launched.
        self._passes: dict[str, Any] = {}
        self.factors = xp.where(self.tree.above == xp.arange(len(parent)), 0.0, -edges / pivots)

    @cached_property
    def steps(self) -> list[SparseStep]:
        """The sparse matrices M_1 … M_k, N_k … N_1 with their compressed edges."""
        return compress(self.tree.above, self.tree.depth, self.factors)

    def forward(self, b: Array, method: SolveMethod = "compression") -> Array:
        """z with Lz = b, float64[n] or [n, k]: an upward accumulation; raises as :meth:`solve`.

        Args:
            b, method: as for :meth:`solve`.
        """
        return self._solved(b, method, "forward")

    def backward(self, b: Array, method: SolveMethod = "compression") -> Array:
        """x with Lᵀx = b, float64[n] or [n, k]: a downward accumulation; raises as :meth:`solve`.

        Args:
            b, method: as for :meth:`solve`.
        """
        return self._solved(b, method, "backward")

    def solve(self, b: Array, method: SolveMethod = "compression") -> Array:
        """x with Ax = b, float64[n] or [n, k]; raises BadInput.

        Args:
            b: the right side, or several as columns, [n] or [n, k].
            method: ``compression`` or ``levels``, see the class.
        """
        return self._solved(b, method, "solve")

    def _solved(self, b: Array, method: SolveMethod, what: str) -> Array:
        module_of(self.factors, b)
        require_length("the right side", b, len(self.tree), "vertex", columns=True)
        require_choice("method", method, METHODS)
        if on_gpu(b) and b.dtype.kind in "iuf":
            from langford.irregular.cuda.gpu import gpu_of
            from langford.irregular.cuda.solve import passes_on_gpu, solve

            if method not in self._passes:
                self._passes[method] = passes_on_gpu(self, method)
            x = solve(gpu_of(b), self._passes[method], self.pivots, b, what)
            if x is not None:
                return x
        require_numbers("the right side", b)
        x = np.array(b, np.float64, order="C").reshape(len(b), prod(b.shape[1:]))
        if what != "backward":
            self._accumulate(x, method, down=False)
        if what == "solve":
            x /= self.pivots[:, None]
        if what != "forward":
            self._accumulate(x, method, down=True)
        return x.reshape(b.shape)

    def _accumulate(self, x: Array, method: SolveMethod, down: bool) -> None:
        """One pass over x, [n, k], in place, on a core."""
        if method == "levels":
            accumulate = solve_downwards if down else solve_upwards
            accumulate(self.tree.above, self.tree.order, self.factors, x)
            return
        for step in reversed(self.steps) if down else self.steps:
            if down:
                multiply_add(step.sources, step.targets, step.factors, x)
            else:
                multiply_add(step.targets, step.sources, step.factors, x)
