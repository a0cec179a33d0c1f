"""The streams of one GPU against the timed event graph of `langford irregular farm --gpu`.

    python benchmarks/stream_model.py
    python benchmarks/stream_model.py --host     the kernel on this processor: try the program

Miller's search of L(2,18), as its evaluator launches it: a core places a colour below some masks and puts the
sub-tasks into the buffer of a stream (feed), the GPU copies them (copy) and searches them (kernel), and the core
learns that it is done (result).  The last sub-tasks of a launch keep little of the GPU busy (tail): a launch of
twice as many takes less than twice as long, and what it saves is the tail.  With one stream each step is timed
alone; the graph predicts launches per second with 1 to 4 streams, which are then measured.  The deeper the
sub-tasks, the more of a launch is feeding.  At the end the whole evaluator counts one task with 1 to 4 streams.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from table import Table

import langford
from jobs.throughput import Pipeline, best_streams, launches_per_second
from langford.devices import cores
from langford.kernels.cuda.host import HostProgram
from langford.kernels.cuda.program import Stream
from langford.kernels.cuda.runtime import CudaProgram
from langford.methods.backtracking.cuda import MillerOnGpu, Settings, lane_depth
from langford.problem import Problem

STREAMS = (1, 2, 3, 4)
LAUNCHES, TIMED_LAUNCHES = 64, 12


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

    @property
    def doubled(self) -> Source:
        """The same with twice as many sub-tasks in a launch."""
        pairs = [
            np.concatenate(pair) for pair in zip(self.parents, self.parents[1:] + self.parents[:1], strict=True)
        ]
        return replace(self, parents=pairs, room=2 * self.room)

    def put(self, number: int, words: Any) -> None:
        """Place a colour, and put the sub-tasks of a launch into a buffer."""
        frees = self.plan.place(self.parents[number % len(self.parents)], self.depth)
        words[: self.room] = frees[: self.room]


def source(plan: Any, depth: int, room: int) -> Source:
    """Sub-tasks with so many colours placed."""
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
        self._streams: list[Stream] = [self._program.stream(sub_tasks.room) for _ in range(streams)]
        self._totals = [self._program.zeros(3, np.int64) for _ in range(streams)]

    def launch(self, number: int) -> None:
        """Copy what the buffer of a stream has and start its kernel."""
        stream = number % len(self._streams)
        room = self.sub_tasks.room
        self._streams[stream].launch("miller", room, np.int32(room), None, self._totals[stream])

    def pace(self) -> tuple[float, int]:
        """Launches per second, and the nodes that they searched."""
        started = 0.0
        for number in range(LAUNCHES + TIMED_LAUNCHES):
            if number == TIMED_LAUNCHES:
                started = time.perf_counter()
            stream = self._streams[number % len(self._streams)]
            stream.wait()
            self.sub_tasks.put(number, stream.words)
            self.launch(number)
        for stream in self._streams:
            stream.wait()
        seconds = time.perf_counter() - started
        return LAUNCHES / seconds, sum(int(self._program.download(total)[2]) for total in self._totals)

    def steps(self) -> Pipeline:
        """The steps of a launch, each alone, medians; without a tail."""
        stream = self._streams[0]
        feed, sent, done, result = [], [], [], []
        for number in range(TIMED_LAUNCHES):
            begin = time.perf_counter()
            self.sub_tasks.put(number, stream.words)
            fed = time.perf_counter()
            self.launch(number)
            launched = time.perf_counter()
            stream.wait()
            ended = time.perf_counter()
            stream.wait()
            feed.append(launched - begin)
            sent.append(launched - fed)
            done.append(ended - fed)
            result.append(time.perf_counter() - ended)
        copy = self._copy(stream)
        median = statistics.median
        # What the core needs to launch is its own work: it feeds nothing else meanwhile.
        kernel = max(median(done) - median(sent) - copy, 0.0)
        return Pipeline(*(round(1000 * value, 4) for value in (median(feed), copy, kernel, median(result))))

    @classmethod
    def pipeline(cls, evaluator: MillerOnGpu, sub_tasks: Source) -> Pipeline:
        """The steps of a launch, and its tail: what a launch of twice as many sub-tasks takes less than two."""
        steps, twice = (cls(evaluator, tasks, 1).steps() for tasks in (sub_tasks, sub_tasks.doubled))
        return replace(steps, tail=min(round(max(2 * steps.kernel - twice.kernel, 0.0), 4), steps.kernel))

    def _copy(self, stream: Stream) -> float:
        """Seconds of a copy of the buffer to the GPU."""
        if isinstance(self._program, HostProgram):
            return 0.0
        import cupy

        there, seconds = cupy.empty(self.sub_tasks.room, np.uint64), []
        for _ in range(TIMED_LAUNCHES):
            cupy.cuda.Device().synchronize()
            begin = time.perf_counter()
            there.set(stream.words[: self.sub_tasks.room])
            cupy.cuda.Device().synchronize()
            seconds.append(time.perf_counter() - begin)
        return statistics.median(seconds)


def main() -> None:
    """Print predictions beside measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", action="store_true")
    arguments = parser.parse_args()
    compiler: Any = HostProgram if arguments.host else partial(CudaProgram, 0)
    plan = langford.plan(Problem.langford(12 if arguments.host else 18), "miller", 3 if arguments.host else 1)
    deepest = plan.depth + plan.levels(plan.depth)
    table = Table(
        "sub-tasks", "feed, copy, kernel, result, tail, ms", "streams", "predicted, launches/s", "measured", "ratio"
    )
    for depth in range(deepest - (1 if arguments.host else 2), deepest + 1):
        settings = Settings(lane_colours=plan.problem.n - depth, computing=0)
        evaluator = MillerOnGpu(plan, compiler, 1, settings)
        sub_tasks = source(plan, lane_depth(plan, settings.lane_colours), 2**8 if arguments.host else 2**17)
        pipeline = Launches.pipeline(evaluator, sub_tasks)
        steps = ", ".join(f"{step:.3g}" for step in vars(pipeline).values())
        nodes = set()
        for streams in STREAMS:
            predicted = launches_per_second(pipeline, streams)
            measured, searched = Launches(evaluator, sub_tasks, streams).pace()
            nodes.add(searched)
            enough = " (enough)" if streams == best_streams(pipeline) else ""
            table.row(
                f"{sub_tasks.room:,} of depth {depth}", steps, f"{streams}{enough}", f"{predicted:,.1f}",
                f"{measured:,.1f}", f"{measured / predicted:.2f}",
            )  # fmt: skip
        if len(nodes) > 1:
            raise SystemExit(f"the streams searched {sorted(nodes)} nodes, not all the same: wrong")
    print()
    whole = Table("evaluator with streams", "s", "nodes per second")
    for streams in STREAMS:
        share = cores()
        evaluator = MillerOnGpu(plan, compiler, share, Settings(streams=streams, sub_tasks=2**17, computing=0))
        index = int(plan.work.argmax())
        evaluator.evaluate(index)
        started = time.perf_counter()
        nodes_of_task = evaluator.evaluate(index).evaluated
        seconds = time.perf_counter() - started
        whole.row(streams, f"{seconds:.3f}", f"{nodes_of_task / seconds:.3g}")


if __name__ == "__main__":
    main()
