"""The streams of one GPU against the timed event graph of :mod:`event_graph_parts.throughput`.

Miller's search of L(2,18), as its evaluator launches it: a core places a colour below some masks and puts the
sub-tasks into the buffer of a stream (feed), the GPU copies them (copy) and searches them (kernel), and the core
learns that it is done (result).  The last sub-tasks of a launch keep little of the GPU busy (tail), and blocks of
the next one take the places of those that have ended.  With one stream each step is timed alone.  The tail is timed
without feeding: in a burst, several launches with full buffers start at once, and what each further one adds is the
kernel without its tail.  From these the graph predicts launches per second with 1 to 4 streams, which are then
measured.  All means are over the same sub-tasks; the deeper these are, the more of a launch is feeding.  A turn has
the steps and what 1 to 4 streams reach, since cores of a shared host change their pace; figures are medians of the
turns, ratios too.  Last, the whole evaluator counts one task with 1 to 4 streams.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import mean, median
from typing import Any

import numpy as np

import langford
from benchmarks.event_graph_parts.throughput import Pipeline, best_streams, launches_per_second
from benchmarks.harness import Figure, Report, Table, required, timed
from langford.kernels.gpu.cuda import CudaProgram
from langford.kernels.gpu.host import HostProgram
from langford.kernels.gpu.program import DeviceStream
from langford.kernels.gpu.runtime import device_name
from langford.machine.cores import cores
from langford.methods.backtracking.cuda import MillerOnGpu, SearchSettings, lane_depth
from langford.methods.backtracking.plan import MillerPlan
from langford.problem import Problem

STREAMS = (1, 2, 3, 4)
LAUNCHES, FIRST_LAUNCHES = 64, 12
"""Those timed, and those before: memory is touched for the first time, and clocks rise."""
BURSTS = 2, 4
"""Launches that start at once; their difference tells what a further one adds."""


@dataclass(frozen=True)
class Source:
    """Where sub-tasks come from, always as many for a launch.

    Attributes:
        plan: of the search.
        parents: masks of which each launch takes the next few, uint64[launches, parents].
        depth: colours placed in them.
        room: sub-tasks of a launch.
    """

    plan: Any
    parents: Any
    depth: int
    room: int

    def put(self, number: int, words: Any) -> None:
        """Place a colour, and put the sub-tasks of a launch into a buffer."""
        frees = self.plan.place(self.parents[number % len(self.parents)], self.depth)
        words[: self.room] = frees[: self.room]


def source(plan: Any, depth: int, room: int) -> Source:
    """Sub-tasks with this number of colours placed."""
    frees = plan.frees
    for placed in range(plan.depth, depth - 1):
        frees = plan.place(frees[: 4 * room], placed)
    children = len(plan.place(frees[:1000], depth - 1)) / min(len(frees), 1000)
    parents = int(1.3 * room / children) + 1
    rows = [frees[start : start + parents] for start in range(0, len(frees) - parents, parents)][:16]
    least = min(len(plan.place(row, depth - 1)) for row in rows)
    return Source(plan, rows, depth - 1, min(room, least))


class Launches:
    """Launches of one kernel through some streams.

    Attributes:
        sub_tasks: where the sub-tasks come from.
    """

    def __init__(self, evaluator: MillerOnGpu, sub_tasks: Source, streams: int) -> None:
        self.sub_tasks, self._program = sub_tasks, evaluator.program
        self._streams: list[DeviceStream] = [self._program.stream(sub_tasks.room) for _ in range(streams)]
        self._totals = [self._program.zeros(3, np.int64) for _ in range(streams)]

    def launch(self, number: int) -> None:
        """Copy what the buffer of a stream has and start its kernel."""
        stream = number % len(self._streams)
        room = self.sub_tasks.room
        self._streams[stream].launch("miller", room, np.int32(room), None, self._totals[stream])

    def pace(self) -> tuple[float, int]:
        """Launches per second, and the nodes that they searched."""
        started = 0.0
        for number in range(FIRST_LAUNCHES + LAUNCHES):
            if number == FIRST_LAUNCHES:
                started = time.perf_counter()
            stream = self._streams[number % len(self._streams)]
            stream.wait()
            self.sub_tasks.put(number, stream.words)
            self.launch(number)
        for stream in self._streams:
            stream.wait()
        seconds = time.perf_counter() - started
        return LAUNCHES / seconds, sum(int(self._program.download(total)[2]) for total in self._totals)

    def pipeline(self) -> Pipeline:
        """The steps of a launch, each alone, and its tail; means."""
        stream = self._streams[0]
        rows = []
        for number in range(FIRST_LAUNCHES + LAUNCHES):
            begin = time.perf_counter()
            self.sub_tasks.put(number, stream.words)
            self.launch(0)
            launched = time.perf_counter()
            stream.wait()
            ended = time.perf_counter()
            stream.wait()
            rows.append((launched - begin, ended - launched, time.perf_counter() - ended))
        # What the core needs to launch is its own work: it feeds nothing else meanwhile.
        feed, on_gpu, result = (mean(column) for column in zip(*rows[FIRST_LAUNCHES:], strict=True))
        copy = min(self._copy(stream), on_gpu)
        kernel = on_gpu - copy
        few, many = (mean(self._bursts(size)) for size in BURSTS)
        busy = (many - few) / (BURSTS[1] - BURSTS[0])
        steps = feed, copy, kernel, result, min(max(kernel - busy, 0.0), kernel)
        return Pipeline(*(round(1000 * seconds, 4) for seconds in steps))

    def _bursts(self, size: int) -> Iterator[float]:
        """Seconds of some launches that start at once, again and again, until all sub-tasks had their turn."""
        streams = self._streams[:size]
        for first in range(0, LAUNCHES, size):
            for number, stream in enumerate(streams):
                self.sub_tasks.put(first + number, stream.words)
            begin = time.perf_counter()
            for number in range(size):
                self.launch(number)
            for stream in streams:
                stream.wait()
            yield time.perf_counter() - begin

    def _copy(self, stream: DeviceStream) -> float:
        """Seconds of a copy of the buffer to the GPU."""
        if isinstance(self._program, HostProgram):
            return 0.0
        cupy = required("cupy")
        there, seconds = cupy.empty(self.sub_tasks.room, np.uint64), []
        for _ in range(FIRST_LAUNCHES + LAUNCHES):
            cupy.cuda.Device().synchronize()
            begin = time.perf_counter()
            there.set(stream.words[: self.sub_tasks.room])
            cupy.cuda.Device().synchronize()
            seconds.append(time.perf_counter() - begin)
        return mean(seconds[FIRST_LAUNCHES:])


@dataclass(frozen=True)
class Turn:
    """What the graph said, and what came.

    Attributes:
        pipeline: the steps.
        predicted, measured: launches per second with each number of STREAMS.
        nodes: how many the launches of each pace searched.
    """

    pipeline: Pipeline
    predicted: list[float]
    measured: list[float]
    nodes: list[int]


def turn(evaluator: MillerOnGpu, sub_tasks: Source) -> Turn:
    """Steps, predictions and paces, one after the other."""
    pipeline = Launches(evaluator, sub_tasks, max(BURSTS)).pipeline()
    predicted = [launches_per_second(pipeline, streams) for streams in STREAMS]
    paces = [Launches(evaluator, sub_tasks, streams).pace() for streams in STREAMS]
    return Turn(pipeline, predicted, [pace for pace, _ in paces], [nodes for _, nodes in paces])


def measure(report: Report, turns: int, host: bool) -> None:
    """Print predictions beside measurements; ``host``: the kernel runs on this processor."""
    if not host:
        report.note(device_name(0))
    compiler: Any = HostProgram if host else partial(CudaProgram, 0)
    plan = langford.plan(Problem.langford(12 if host else 18), "miller", 3 if host else 1)
    assert isinstance(plan, MillerPlan)
    deepest = plan.depth + plan.levels(plan.depth)
    table = report.table(
        "sub-tasks", "feed, copy, kernel, result, tail, ms", "streams", "predicted, launches/s", "measured",
        "ratio", title="streams",
    )  # fmt: skip
    for depth in range(deepest - (1 if host else 2), deepest + 1):
        settings = SearchSettings(lane_colours=plan.problem.n - depth, computing=0)
        evaluator = MillerOnGpu(plan, compiler, 1, settings)
        sub_tasks = source(plan, lane_depth(plan, settings.lane_colours), 2**8 if host else 2**17)
        show(table, f"{sub_tasks.room:,} of depth {depth}", [turn(evaluator, sub_tasks) for _ in range(turns)])
    print()
    whole = report.table("evaluator with streams", "s", "nodes per second", title="whole evaluator")
    index = int(plan.work.argmax())
    for streams in STREAMS:
        settings = SearchSettings(streams=streams, sub_tasks=2**17, computing=0)
        evaluator = MillerOnGpu(plan, compiler, cores(), settings)
        timing = timed(1, partial(evaluator.evaluate, index), warm_up=True)
        rate = Figure(timing.outcome.evaluated / timing.median, "{:.3g}")
        whole.row(streams, Figure(timing.median, "{:.3f}"), rate)


def show(table: Table, what: str, turns: list[Turn]) -> None:
    """Print a row for each number of streams, medians of the turns."""
    searched = {nodes for seen in turns for nodes in seen.nodes}
    if len(searched) > 1:
        raise SystemExit(f"launches searched {sorted(searched)} nodes, not all the same: wrong")
    steps = Pipeline(*map(median, zip(*(vars(seen.pipeline).values() for seen in turns), strict=True)))
    shown = ", ".join(f"{step:.3g}" for step in vars(steps).values())
    for at, streams in enumerate(STREAMS):
        predicted = [seen.predicted[at] for seen in turns]
        measured = [seen.measured[at] for seen in turns]
        ratio = median(pace / expected for pace, expected in zip(measured, predicted, strict=True))
        enough = " (enough)" if streams == best_streams(steps) else ""
        table.row(
            what, shown, f"{streams}{enough}", Figure(median(predicted), "{:,.1f}"),
            Figure(median(measured), "{:,.1f}"), Figure(ratio, "{:.2f}"),
        )  # fmt: skip
