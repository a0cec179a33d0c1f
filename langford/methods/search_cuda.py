"""Backtracking by a GPU and the cores that feed it: three levels of one search.

A task has p colours placed.  Cores place the next q, in every way that fits (the thesis's
client level), and send these sub-tasks to the GPU, whose lanes place the last r.  Copies
and kernels go through several streams.  A core that finds every stream busy evaluates
sub-tasks itself, a few at a time, until one is free: the share of the cores is what they
manage to take.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic.residue import MODULUS, residue
from langford.errors import MethodDoesNotApply
from langford.kernels.cuda.source import MILLER, REGULAR, Definitions, source_of
from langford.methods.gpu import Compiler, Program, Stream
from langford.methods.miller import MillerPlan
from langford.methods.plan import require_index
from langford.methods.regular import RegularPlan
from langford.methods.search import SearchPlan
from langford.result import PartialResult

MOST_TEST_FREE = 6
LANE_NODES, LEAST_ROWS = 3e4, 5e5
"""Sub-tasks have about so many nodes at most, and are so many at least: lanes that end at different
times want enough to go on with."""
SEEDS_PER_CORE = 64
EARLY = 8
"""A stream with this part of its sub-tasks starts when the GPU has nothing to do."""
STOLEN = 64
"""Sub-tasks that a core takes on before it looks for a free stream again."""
Found = tuple[int, int, int]
"""Arrangements, the same mod 2^64 − 1, nodes."""


@dataclass(frozen=True)
class Settings:
    """What the experiments of ``langford tune miller`` choose.

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
            None to let them take what they manage.
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


def lane_depth(plan: SearchPlan, lane_colours: int | None) -> int:
    """p + q: the colours placed before a lane gets the row."""
    deepest = plan.depth + plan.levels(plan.depth)
    if lane_colours is not None:
        return max(plan.depth, min(plan.problem.n - lane_colours, deepest))
    nodes = float(plan.work.sum())
    for depth in range(plan.depth, deepest):
        rows = plan.rows(depth)
        if rows >= LEAST_ROWS and nodes <= LANE_NODES * rows:
            return depth
    return deepest


class SearchEvaluator:
    """Evaluates the tasks of a backtracking plan with a compiled ``miller.cu`` or ``regular.cu``."""

    def __init__(
        self, plan: SearchPlan, compiler: Compiler, cores: int = 1, settings: Settings | None = None
    ) -> None:
        """
        Args:
            cores: threads that place the q colours, and compute meanwhile.

        Raises:
            MethodDoesNotApply: a difference is too large for the kernel's words.
        """
        self._plan, self._cores = plan, cores
        self.settings = settings or Settings()
        n = plan.problem.n
        self.on_gpu = self.on_cores = 0
        """Sub-tasks evaluated so far by the GPU and by the cores."""
        self._depth = lane_depth(plan, self.settings.lane_colours)
        if plan.depth == n:
            return
        files, definitions = _program_of(plan, self._depth, self.settings)
        self.program: Program = compiler(source_of(files, definitions), plan.method, self.settings.threads)
        if self.settings.blocks:
            self.program.blocks = self.settings.blocks * self.program.multiprocessors
        self._row_words = plan.frees.ndim  # uint64[·] or [·, 2]
        self._streams = [
            self.program.stream(self.settings.sub_tasks * self._row_words) for _ in range(self.settings.streams)
        ]
        plan.warm_up()

    def evaluate(self, index: int) -> PartialResult:
        """The partial result of one task; raises TaskIndexOutOfRange."""
        require_index(self._plan, index)
        if self._plan.depth == self._plan.problem.n:
            return self._plan.evaluate(index)
        frees, depth, nodes = self._plan.frees[index : index + 1], self._plan.depth, 0
        while depth < self._depth and len(frees) < SEEDS_PER_CORE * self._cores:
            frees = self._plan.place(frees, depth)
            depth, nodes = depth + 1, nodes + len(frees)
        feed = Feed(self._plan.method, self.program, self._streams, self.settings, self._row_words)
        pieces = Pieces(np.array_split(frees, min(len(frees), SEEDS_PER_CORE * self._cores)) if len(frees) else ())
        with ThreadPoolExecutor(self._cores) as pool:
            work = [pool.submit(self._work, core, pieces, depth, feed) for core in range(self._cores)]
            found = [(0, 0, nodes), *(part for each in work for part in each.result()), feed.finish()]
        self.on_gpu += feed.sent
        self.on_cores += feed.kept
        arrangements, residues, visited = (sum(column) for column in zip(*found, strict=True))
        return self._plan.partial_result(index, arrangements, residues % MODULUS, visited)

    def _work(self, core: int, pieces: Pieces, depth: int, feed: Feed) -> list[Found]:
        """What one core does: place q colours below some masks, send or evaluate what that gives."""
        settings = self.settings
        computing = settings.computing is None or core < settings.computing
        found: list[Found] = []
        for number, frees in pieces:
            placed = 0
            for level in range(depth, self._depth):
                frees = self._plan.place(frees, level)
                placed += len(frees)
            found.append((0, 0, placed))
            ours = settings.cpu_share is not None and _is_ours(number, settings.cpu_share)
            while len(frees):
                taken = 0 if ours else feed.send(frees, wait=not computing or settings.cpu_share is not None)
                if not taken:
                    taken = min(len(frees), STOLEN)
                    found.append(self._plan.search(frees[:taken], self._depth))
                    feed.keep(taken)
                frees = frees[taken:]
        return found


class Pieces:
    """Numbered pieces of work that threads take in turn."""

    def __init__(self, pieces: Iterable[NDArray[np.uint64]]) -> None:
        self._pieces = enumerate(pieces)
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[tuple[int, NDArray[np.uint64]]]:
        while True:
            with self._lock:
                piece = next(self._pieces, None)
            if piece is None:
                return
            yield piece


class Feed:
    """Collects the sub-tasks of a task in the buffers of the streams, and launches them."""

    def __init__(
        self, method: str, program: Program, streams: list[Stream], settings: Settings, row_words: int
    ) -> None:
        self._method, self._program, self._streams, self._words = method, program, streams, row_words
        self._room = settings.sub_tasks
        self._totals = [program.zeros(3, np.int64) for _ in streams]
        self._current = self._filled = 0
        self._lock = threading.Lock()
        self.sent = self.kept = 0

    def send(self, frees: NDArray[np.uint64], wait: bool) -> int:
        """Put as many sub-tasks as fit into a stream's buffer; how many.

        0 when the streams are busy; with ``wait``, when one is free.
        """
        if not self._lock.acquire(blocking=wait):
            return 0
        try:
            stream = self._streams[self._current]
            if not self._filled and not stream.idle:
                if not wait:
                    return 0
                stream.wait()
            taken = min(len(frees), self._room - self._filled)
            start = self._filled * self._words
            stream.words[start : start + taken * self._words] = frees[:taken].reshape(-1)
            self._filled += taken
            self.sent += taken
            if self._filled == self._room or (self._filled >= self._room // EARLY and self._all_idle()):
                self._launch()
            return taken
        finally:
            self._lock.release()

    def keep(self, count: int) -> None:
        """Note that a core evaluates so many sub-tasks itself."""
        with self._lock:
            self.kept += count

    def finish(self) -> Found:
        """Launch the rest, wait for all streams; what the device found."""
        if self._filled:
            self._launch()
        for stream in self._streams:
            stream.wait()
        totals = [[int(each) for each in self._program.download(total)] for total in self._totals]
        found, again, nodes = (sum(column) for column in zip(*totals, strict=True))
        return found, residue(again), nodes

    def _all_idle(self) -> bool:
        return all(stream.idle for stream in self._streams)

    def _launch(self) -> None:
        self._streams[self._current].launch(
            self._method, self._filled * self._words, np.int32(self._filled), None, self._totals[self._current]
        )
        self._current = (self._current + 1) % len(self._streams)
        self._filled = 0


def _is_ours(number: int, share: float) -> bool:
    """Whether a piece belongs to the cores, when they get a share of all pieces evenly spread."""
    return int((number + 1) * share) > int(number * share)


def _program_of(plan: SearchPlan, depth: int, settings: Settings) -> tuple[tuple[str, ...], Definitions]:
    """The source files and definitions of the kernel for sub-tasks with ``depth`` colours placed."""
    problem, levels = plan.problem, plan.levels(depth)
    differences = plan.order.differences
    definitions: dict[str, int | list[int]] = {
        "PLACES": problem.places,
        "COPIES": problem.copies,
        "LEVELS": levels,
        "LEVEL_DIFFERENCES": [*differences[depth : depth + levels], 0],
        "PERSISTENT": settings.persistent,
        "THREADS": settings.threads,
        "MIN_BLOCKS": settings.min_blocks,
    }
    if isinstance(plan, RegularPlan):
        if plan.test_free > MOST_TEST_FREE:
            raise MethodDoesNotApply(f"regular on the GPU leaves at most {MOST_TEST_FREE} colours test-free")
        assigned = plan.assigned()
        masks = [mask for row in assigned for mask in row]
        words = [word for mask in masks for word in (mask & 2**64 - 1, mask >> 64)]
        return REGULAR, definitions | {
            "TEST_FREE": plan.test_free,
            "OFFSETS": np.cumsum([0, *map(len, assigned)]).tolist(),
            "PLACEMENTS": words or [0, 0],
            "LAST": differences[-1],
            "ASSIGNMENTS": int(np.prod([len(row) for row in assigned], dtype=np.int64)),
        }
    assert isinstance(plan, MillerPlan)
    left = differences[depth + levels :]
    bits = 32 if max(differences) < 32 else 64
    if max(differences) >= bits:
        raise MethodDoesNotApply(f"{plan.method} on the GPU needs differences below {bits}")
    return MILLER, definitions | {
        "WORD_BITS": bits,
        "UNUSED": sum(1 << bits - 1 - difference for difference in left),
        "FILL_LEVELS": len(left) - 2,
        "WAITING": settings.waiting,
    }
