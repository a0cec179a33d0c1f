"""Howard's policy iteration on a GPU: many rounds are one launch, cycles and distances come by pointer jumping."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from langford.irregular.arrays import Array
from langford.irregular.cuda.gpu import GATE_WORDS, Gpu
from langford.irregular.errors import TooWide
from langford.irregular.parts import Components
from langford.irregular.policies import (
    LARGEST,
    TOO_WIDE,
    InnerEdges,
    largest,
    longest,
)
from langford.irregular.rows import GraphRows

ROUNDS = 64
"""Of one launch; between two of them the program can be interrupted."""


class GpuIteration:
    """Implements langford.irregular.policies.PolicyIteration on a device."""

    def __init__(self, gpu: Gpu, graph: GraphRows, parts: Components, weights: Array, times: Array | None) -> None:
        self._gpu, self._n, self._count = gpu, graph.n, parts.count
        self._program = gpu.meeting("cycles.cu", VERTEX=graph.indices.dtype)
        self.edges = InnerEdges.of(graph, parts, weights, times)
        self.policy, self.distance = gpu.zeros(self._n, np.int64), gpu.zeros(self._n, np.int64)
        self._ratios = gpu.zeros((parts.count, 2), np.int64)
        self._ratios[:, 1] = 1

    @property
    def denominators(self) -> Array:
        """Of the ratio of each component."""
        return self._ratios[:, 1]

    def _launch(self, name: str, *arguments: object) -> None:
        self._program.launch(name, np.int64(self._n), *arguments)

    def run(self) -> tuple[Fraction, Array, int]:
        """Rounds until no choice changes; raises TooWide."""
        gpu, xp, edges, n, count = self._gpu, self._gpu.xp, self.edges, self._n, self._count
        vertex = edges.targets.dtype
        heaviest, most = largest(edges.weights), longest(edges.times)
        if n * max(heaviest, most) >= LARGEST:
            raise TooWide(TOO_WIDE)
        sizes = gpu.put([heaviest, most], np.float64)
        self._launch("lightest", edges.indptr, edges.weights, self.policy)
        best, roots, top = xp.empty(count, vertex), xp.full(count, -1, vertex), xp.full(1, -1, vertex)
        kept, record = gpu.zeros(n, np.int64), gpu.zeros(3, np.int64)
        arguments = (
            edges.indptr, edges.targets, edges.weights, edges.weights if edges.times is None else edges.times,
            edges.labels, sizes, self.policy, kept, self.distance,
            xp.empty(n, np.int64), *(xp.empty((n, 2), vertex) for _ in range(2)),
            *(xp.empty(n, vertex) for _ in range(2)), *(xp.empty(n, np.int64) for _ in range(4)), best, roots,
            self._ratios, top, gpu.zeros(GATE_WORDS, np.uint32), record,
        )  # fmt: skip
        settled = wide = 0
        while not settled and not wide:
            self._launch(
                "iterate", np.int64(count), np.int64(edges.times is not None), np.int64(ROUNDS), *arguments
            )
            rounds, settled, wide = gpu.on_host(record).tolist()
        if wide:
            raise TooWide(TOO_WIDE)
        label = int(top[0])
        p, q = gpu.on_host(self._ratios[label]).tolist()
        cycle = self._cycle_through(int(roots[label]), kept)
        return Fraction(p, q), cycle, rounds

    def _cycle_through(self, start: int, policy: Array) -> Array:
        """The edges of a policy's cycle through a vertex, from it on."""
        xp = self._gpu.xp
        jumps = self.edges.targets[policy].astype(np.int64)
        members = xp.array([start], np.int64)
        # The first 2^k vertices, then as many again, 2^k steps further on.
        while len(members) < 2 * self._n:
            members = xp.concatenate([members, jumps[members]])
            repeated = xp.flatnonzero(members[1:] == start)
            if len(repeated):
                return policy[members[: int(repeated[0]) + 1]]
            jumps = jumps[jumps]
        raise AssertionError("the leader of a cycle is on it")
