"""The phases of Howard's algorithm on a GPU; cycles and distances by pointer jumping."""

from __future__ import annotations

import numpy as np

from langford.irregular.arrays import Array
from langford.irregular.cuda.gpu import Gpu, gpu_of
from langford.irregular.phases import LARGEST, InnerEdges, PolicyCycles, WideDistance


def phases_on_gpu(edges: InnerEdges) -> GpuPhases:
    """The phases for edges of CuPy's arrays."""
    return GpuPhases(gpu_of(edges.indptr), edges)


class GpuPhases:
    """Implements langford.irregular.phases.Phases on a device."""

    def __init__(self, gpu: Gpu, edges: InnerEdges) -> None:
        self._gpu, self._edges = gpu, edges
        self._n = len(edges.labels)
        self._program = gpu.program("cycles.cu", VERTEX=edges.targets.dtype, WEIGHT=edges.weights.dtype)
        self._labels = edges.labels.astype(edges.targets.dtype)
        self._rounds = max(self._n, 1).bit_length()
        self._flags = gpu.zeros(2, np.int32)
        self._sums = self._durations = self._leader = gpu.zeros(0, np.int64)
        self._ratios = gpu.zeros(0, edges.weights.dtype)
        self._active = gpu.zeros(0, np.int8)
        self.policy = gpu.zeros(self._n, np.int64)
        self.distance = gpu.zeros(self._n, edges.weights.dtype)
        largest = max(float(abs(array).max()) for array in (edges.weights, edges.times))
        self._may_wrap = edges.weights.dtype.kind == "i" and self._n * largest >= LARGEST
        self._launch("lightest", edges.indptr, edges.weights, self.policy)

    def _launch(self, name: str, *arguments: object) -> None:
        self._program.launch(name, np.int64(self._n), *arguments)

    def cycles(self) -> PolicyCycles:
        """The cycles of the policy, each by its least vertex; raises WideDistance."""
        if self._may_wrap:
            raise WideDistance
        gpu, xp, edges = self._gpu, self._gpu.xp, self._edges
        following, least = gpu.zeros(self._n, np.int64), gpu.zeros(self._n, np.int64)
        self._launch("begin_jumps", self.policy, edges.targets, following, least)
        for _ in range(self._rounds):
            after, lower = xp.empty_like(following), xp.empty_like(least)
            self._launch("double_jumps", following, least, after, lower)
            following, least = after, lower
        sums, durations = (gpu.zeros(self._n, edges.weights.dtype) for _ in range(2))
        leads, start = gpu.zeros(self._n, np.int8), gpu.zeros(self._n, np.int64)
        self._launch(
            "begin_sums", self.policy, edges.targets, edges.weights, edges.times, following, least, start, sums,
            durations, leads,
        )  # fmt: skip
        leader = start
        for _ in range(self._rounds):
            after, further, longer = xp.empty_like(leader), xp.empty_like(sums), xp.empty_like(durations)
            self._launch("double_sums", leader, sums, durations, after, further, longer)
            leader, sums, durations = after, further, longer
        self._leader, self._sums, self._durations = leader, sums, durations
        # Once round: the leader's edge, and the way back from where it leads.
        leaders = xp.flatnonzero(leads)
        chosen = self.policy[leaders]
        ends = edges.targets[chosen]
        return PolicyCycles(
            gpu.on_host(leaders),
            gpu.on_host(edges.labels[leaders]),
            gpu.on_host(edges.weights[chosen] + sums[ends]),
            gpu.on_host(edges.times[chosen] + durations[ends]),
        )

    def measure(self, roots: Array, numerators: Array, denominators: Array, active: Array) -> None:
        """Distances to the roots; vertices that are led elsewhere get another policy.  Raises WideDistance."""
        gpu, edges, flags = self._gpu, self._edges, self._flags
        kind = edges.weights.dtype
        self._ratios = gpu.put(np.stack([numerators, denominators], axis=1), kind)
        self._active = gpu.put(active, np.int8)
        state = gpu.zeros(self._n, np.int8)
        flags.fill(0)
        self._launch(
            "measure", self._labels, self._active, gpu.put(roots, np.int64), self._ratios, self._leader, self._sums,
            self._durations, self.policy, self.distance, state, flags,
        )  # fmt: skip
        while gpu.flag(flags):
            self._launch(
                "lead_back", edges.indptr, edges.targets, edges.weights, edges.times, self._labels, self._ratios,
                self.policy, self.distance, state, flags,
            )  # fmt: skip
            self._launch("end_round", state)
        if bool(flags[1]):
            raise WideDistance

    def improve(self, tolerance: float) -> Array:
        """Choose nearer edges; returns in which components any choice changed, bool on the host."""
        gpu, edges = self._gpu, self._edges
        still = gpu.zeros(len(self._active), np.int8)
        self._flags.fill(0)
        self._launch(
            "improve", edges.indptr, edges.targets, edges.weights, edges.times, self._labels, self._ratios,
            self._active, gpu.put(np.array([tolerance]), edges.weights.dtype), self.distance, self.policy, still,
            self._flags,
        )  # fmt: skip
        return gpu.on_host(still) > 0

    def walk(self, start: int) -> Array:
        """The vertices of the policy's cycle through a vertex, int64 on the host, from its leader on."""
        xp = self._gpu.xp
        on_way = xp.zeros(self._n, bool)
        on_way[start] = True
        # The cycle is as long as its vertices: those whose leader it is and that are reached from it.
        following = xp.where(self.policy < 0, xp.arange(self._n), self._edges.targets[self.policy])
        jumps, reach = following.astype(np.int64), 1
        members = [xp.array([start], np.int64)]
        # The first 2^k vertices, then as many again, 2^k steps further on.
        while reach < 2 * self._n:
            members.append(jumps[xp.concatenate(members)])
            whole = xp.concatenate(members)
            repeated = xp.flatnonzero(whole[1:] == start)
            if len(repeated):
                return self._gpu.on_host(whole[: int(repeated[0]) + 1])
            members = [whole]
            jumps, reach = jumps[jumps], 2 * reach
        raise AssertionError("the leader of a cycle is on it")
