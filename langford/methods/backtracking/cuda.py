"""Backtracking by a GPU and the cores that feed it: three levels of one search.

A task has p colours placed.  Cores place the next q, in every way that fits (the thesis's
client level), and send these sub-tasks to the GPU, whose lanes place the last r.  Copies
and kernels go through several streams.  A core that finds every stream busy evaluates
sub-tasks itself, a few at a time, until one is free.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic.residue import MODULUS
from langford.devices import Cuda, Host, devices
from langford.errors import MethodDoesNotApply
from langford.kernels.gpu.program import Compiler, Definitions, Program, source_of
from langford.machine.cores import cores
from langford.methods.backtracking.cpu import BacktrackingOnCpu, MillerOnCpu, RegularOnCpu
from langford.methods.backtracking.feed import Counted, Feed
from langford.methods.backtracking.plan import BacktrackingPlan, MillerPlan, RegularPlan
from langford.result import PartialResult

KERNELS = Path(__file__).with_name("kernels")
MAX_TEST_FREE = 6
LANE_NODES, MIN_ROWS = 3e4, 5e5
"""Sub-tasks have about this number of nodes at most, and there are at least as many of them: lanes that end at
different times need enough to go on with."""
SEEDS_PER_CORE = 64
STOLEN = 64
"""Sub-tasks that a core takes on before it looks for a free stream again."""
AnyPlan = TypeVar("AnyPlan", bound=BacktrackingPlan)


@dataclass(frozen=True)
class SearchSettings:
    """How the GPU and the cores share a task; the experiments of ``langford tune miller`` try others.

    Attributes:
        lane_colours: r, colours that a lane of the GPU places; None to choose by the problem.
        threads: per block.
        min_blocks: blocks per multiprocessor that the compiler leaves registers for.
        blocks: per multiprocessor of a launch; None for as many as it holds.
        streams: queues of copies and kernels.
        sub_tasks: that a stream takes at once.
        waiting: lanes of a warp that are idle before it fetches rows for them: 1 at once,
            32 all together, as if every lane worked for itself.
        persistent: lanes take the next sub-task; otherwise each has its share from the start.
        computing: cores that evaluate sub-tasks while streams are busy; None for all.
        cpu_share: share of the sub-tasks set aside for the cores (the thesis's static 0.2);
            None: they take sub-tasks while all streams are busy.
    """

    lane_colours: int | None = None
    threads: int = 128
    min_blocks: int = 8
    blocks: int | None = None
    streams: int = 3
    sub_tasks: int = 2**20
    waiting: int = 1
    persistent: bool = True
    computing: int | None = None
    cpu_share: float | None = None


def lane_depth(plan: BacktrackingPlan, lane_colours: int | None) -> int:
    """p + q: the colours placed before a lane gets the row."""
    deepest = plan.depth + plan.levels(plan.depth)
    if lane_colours is not None:
        return max(plan.depth, min(plan.problem.n - lane_colours, deepest))
    nodes = float(plan.work.sum())
    for depth in range(plan.depth, deepest):
        rows = plan.rows(depth)
        if rows >= MIN_ROWS and nodes <= LANE_NODES * rows:
            return depth
    return deepest


class BacktrackingOnGpu(ABC, Generic[AnyPlan]):
    """Evaluates the tasks of a plan with a compiled kernel, and with the cores that feed it.

    Attributes:
        settings: how the GPU and the cores share the work.
        on_gpu, on_cores: sub-tasks evaluated so far by the GPU and by the cores.
        program: the compiled program; there is none when the tasks place every colour.
    """

    source: ClassVar[str]
    """File of the kernel; the kernel has the method's name."""
    on_processor: ClassVar[type[BacktrackingOnCpu]]  # type: ignore[type-arg]

    program: Program

    def __init__(
        self, plan: AnyPlan, compiler: Compiler, cores: int = 1, settings: SearchSettings | None = None
    ) -> None:
        """
        Args:
            compiler: makes the program, for a GPU or for the host.
            cores: threads that place the q colours, and compute meanwhile.

        Raises:
            MethodDoesNotApply: a difference is too large for the kernel's words, the row is a circle, or several
                colours have the same difference.
        """
        if plan.circle is not None or plan.folded is not None:
            rows = "rows on a line" if plan.circle is not None else "rows with each difference once"
            raise MethodDoesNotApply(f"{plan.method.name} on the GPU counts {rows}; use --device cpu")
        self._plan, self._cores = plan, cores
        self.settings = settings or SearchSettings()
        self.on_gpu = self.on_cores = 0
        self._processor = self.on_processor(plan)
        self._depth = lane_depth(plan, self.settings.lane_colours)
        if plan.depth == plan.problem.n:
            return
        name, text = plan.method.name, self.program_text()
        self.program = compiler(text, name, self.settings.threads)
        if self.settings.blocks:
            self.program.blocks = self.settings.blocks * self.program.multiprocessors
        self._row_words = plan.frees.ndim  # uint64[·] or [·, 2]
        self._streams = [
            self.program.stream(self.settings.sub_tasks * self._row_words) for _ in range(self.settings.streams)
        ]

    @classmethod
    def on(cls, plan: AnyPlan, device: Cuda | Host) -> Self:
        """The evaluator for a GPU, or with the same kernel compiled for this processor, which takes every sub-task.

        Each GPU has a worker, and each worker its share of the cores.  Raises NoGpu, NoCompiler or
        MethodDoesNotApply, also where nothing is left for a kernel of this processor.
        """
        if isinstance(device, Host):
            if plan.depth == plan.problem.n:
                raise MethodDoesNotApply(
                    "these tasks place every colour, nothing is left for a kernel: compare others"
                )
            return cls(plan, device.compiler, settings=SearchSettings(streams=1, sub_tasks=2**14, computing=0))
        share = max(1, cores() // len(devices(device.kind)))
        return cls(plan, device.compiler, share)

    def program_text(self) -> str:
        problem, levels, settings = self._plan.problem, self._plan.levels(self._depth), self.settings
        differences = self._plan.order.differences
        shared: Definitions = {
            "PLACES": problem.places, "COPIES": problem.copies, "LEVELS": levels,
            "LEVEL_DIFFERENCES": [*differences[self._depth : self._depth + levels], 0],
            "PERSISTENT": settings.persistent, "THREADS": settings.threads, "MIN_BLOCKS": settings.min_blocks,
        }  # fmt: skip
        return source_of(KERNELS / self.source, {**shared, **self.definitions(self._depth)})

    @abstractmethod
    def definitions(self, depth: int) -> Definitions:
        """Further definitions for the kernel of the method, for sub-tasks with ``depth`` colours placed.

        Raises MethodDoesNotApply.
        """

    def evaluate(self, index: int) -> PartialResult:
        plan = self._plan
        plan.require(index)
        if plan.depth == plan.problem.n:
            return self._processor.evaluate(index)
        frees, depth, nodes = plan.frees[index : index + 1], plan.depth, 0
        while depth < self._depth and len(frees) < SEEDS_PER_CORE * self._cores:
            frees = plan.place(frees, depth)
            depth, nodes = depth + 1, nodes + len(frees)
        feed = Feed(plan.method.name, self.program, self._streams, self.settings.sub_tasks, self._row_words)
        # The threads take its elements in turn: what Python's own iterators do is done by one thread at a time.
        pieces = enumerate(np.array_split(frees, max(1, min(len(frees), SEEDS_PER_CORE * self._cores))))
        with ThreadPoolExecutor(self._cores) as pool:
            work = [pool.submit(self._work, core, pieces, depth, feed) for core in range(self._cores)]
            counted = [(0, 0, nodes), *(part for future in work for part in future.result()), feed.finish()]
        self.on_gpu += feed.sent
        self.on_cores += feed.kept
        arrangements, residues, visited = (sum(column) for column in zip(*counted, strict=True))
        return plan.partial_result(index, arrangements, residues % MODULUS, visited)

    def _work(
        self, core: int, pieces: Iterator[tuple[int, NDArray[np.uint64]]], depth: int, feed: Feed
    ) -> list[Counted]:
        """The work of one core: place q colours below some masks, and send or evaluate the resulting sub-tasks."""
        settings = self.settings
        computing = settings.computing is None or core < settings.computing
        counted: list[Counted] = []
        for number, frees in pieces:
            placed = 0
            for level in range(depth, self._depth):
                frees = self._plan.place(frees, level)
                placed += len(frees)
            counted.append((0, 0, placed))
            ours = settings.cpu_share is not None and _is_ours(number, settings.cpu_share)
            while len(frees):
                taken = 0 if ours else feed.send(frees, wait=not computing or settings.cpu_share is not None)
                if not taken:
                    taken = min(len(frees), STOLEN)
                    counted.append(self._processor.search(frees[:taken], self._depth))
                    feed.keep(taken)
                frees = frees[taken:]
        return counted


class MillerOnGpu(BacktrackingOnGpu[MillerPlan]):
    source = "miller.cu"
    on_processor = MillerOnCpu

    def definitions(self, depth: int) -> Definitions:
        plan = self._plan
        left = plan.order.differences[depth + plan.levels(depth) :]
        bits = 32 if max(plan.problem.differences) < 32 else 64
        if max(plan.problem.differences) >= bits:
            raise MethodDoesNotApply(f"miller on the GPU needs differences below {bits}; use --device cpu")
        return {
            "WORD_BITS": bits, "UNUSED": sum(1 << bits - 1 - difference for difference in left),
            "FILL_LEVELS": len(left) - 2, "WAITING": self.settings.waiting,
        }  # fmt: skip


class RegularOnGpu(BacktrackingOnGpu[RegularPlan]):
    source = "regular.cu"
    on_processor = RegularOnCpu

    def definitions(self, depth: int) -> Definitions:
        plan = self._plan
        if plan.test_free > MAX_TEST_FREE:
            raise MethodDoesNotApply(f"regular on the GPU leaves at most {MAX_TEST_FREE} colours test-free")
        assigned = plan.assigned()
        words = [word for row in assigned for mask in row for word in (mask & 2**64 - 1, mask >> 64)]
        return {
            "TEST_FREE": plan.test_free, "OFFSETS": np.cumsum([0, *map(len, assigned)]).tolist(),
            "PLACEMENTS": words or [0, 0], "LAST": plan.order.differences[-1],
            "ASSIGNMENTS": int(np.prod([len(row) for row in assigned], dtype=np.int64)),
        }  # fmt: skip


def _is_ours(number: int, share: float) -> bool:
    """Whether a piece belongs to the cores, when they get an evenly spread share of all pieces."""
    return int((number + 1) * share) > int(number * share)
