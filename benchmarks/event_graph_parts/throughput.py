"""What limits a farm, and a GPU: both as timed event graphs, whose critical cycle sets the pace."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from benchmarks.event_graph_parts.event_graph import EventGraph
from langford.errors import BadInput


@dataclass(frozen=True)
class Farm:
    """The workers and the server of a farm, by the times that their parts take."""

    workers: int
    batch: int  # tasks that a worker leases, evaluates and delivers at once
    task_seconds: float
    # lease_ms, result_ms: the server's work to grant a batch, and to take its results
    lease_ms: float
    result_ms: float
    round_trip_ms: float  # a message and its answer on the network; two of them per batch


OF_WORKER = " of worker "


@dataclass(frozen=True)
class Throughput:
    """The pace of a farm, and what limits it."""

    # Of all workers, in the long run, when requests never come at the same time unless they must: the most that
    # the farm can do
    tasks_per_second: float
    # When requests come at times that have nothing to do with each other, so that some wait although the server
    # is not busy all the time
    expected_tasks_per_second: float
    limited_by: str  # who sets it, "workers" or "server"
    critical: list[str]  # the events of the cycle that sets it, each kind of event once
    saturates_at: int | None  # the number of workers from which on the server sets it; None when it never does

    def document(self) -> dict[str, Any]:
        return vars(self)


def _exact(number: float) -> Fraction:
    """To six digits: the sums over all workers fit into 62 bits."""
    return Fraction(f"{number:.6g}")


def throughput(farm: Farm) -> Throughput:
    """The pace of a farm; raises BadInput.

    Each worker goes round: its results, its lease, a batch of tasks.  The server serves the workers in turn: its
    one token goes round all of their requests.
    """
    if farm.workers < 1 or farm.batch < 1:
        raise BadInput(f"{farm.workers} workers with batches of {farm.batch}: give at least one of each")
    lease, result = _exact(farm.lease_ms) / 1000, _exact(farm.result_ms) / 1000
    away = 2 * _exact(farm.round_trip_ms) / 1000 + farm.batch * _exact(farm.task_seconds)
    graph = EventGraph()
    for worker in range(1, farm.workers + 1):
        following = worker % farm.workers + 1
        graph.add(f"results{OF_WORKER}{worker}", f"lease{OF_WORKER}{worker}", result)
        graph.add(f"lease{OF_WORKER}{worker}", f"batch{OF_WORKER}{worker}", lease)
        graph.add(f"batch{OF_WORKER}{worker}", f"results{OF_WORKER}{worker}", away, tokens=1)
        last = 1 if worker == farm.workers else 0
        graph.add(f"lease{OF_WORKER}{worker}", f"results{OF_WORKER}{following}", lease, tokens=last)
    period = graph.period()
    if period.value == 0:
        raise BadInput("nothing takes time in this farm: give --task-seconds, or the times of the server")
    served = lease + result
    saturates_at = ceil((served + away) / served) if served else None
    most = float(farm.workers * farm.batch / period.value)
    expected = farm.batch * _batches_per_second(farm.workers, float(served), float(away))
    limited_by = "server" if saturates_at is not None and farm.workers >= saturates_at else "workers"
    kinds = list(dict.fromkeys(event.partition(OF_WORKER)[0] for event in period.critical))
    return Throughput(most, min(expected, most), limited_by, kinds, saturates_at)


def _batches_per_second(workers: int, served: float, away: float) -> float:
    """The pace of workers that are served by one server and then away, for random times of these means.

    Exact for a server that shares itself among the requests that it has, by mean value analysis: a worker that
    comes meets as many as there would be without it (Reiser, Lavenberg).
    """
    present, pace = 0.0, 0.0
    for number in range(1, workers + 1):
        response = served * (1 + present)
        pace = number / (away + response)
        present = pace * response
    return pace


@dataclass(frozen=True)
class Pipeline:
    """One GPU that is fed in streams; all times in milliseconds, of one launch."""

    feed: float  # a core prepares its input
    copy: float
    kernel: float
    result: float  # back, and what the core does with it
    # The end of the kernel in which so little of the GPU still works that another kernel runs beside it
    tail: float = 0.0


def launches_per_second(pipeline: Pipeline, streams: int) -> float:
    """The pace of a pipeline; raises BadInput.

    A stream goes round its four steps and has one token; each step is done for one stream at a time, but for the
    tail of a kernel.

    Args:
        pipeline: the times of its steps.
        streams: how many.
    """
    steps = {name: _exact(value) / 1000 for name, value in vars(pipeline).items()}
    tail = steps.pop("tail")
    if streams < 1:
        raise BadInput(f"{streams} streams launch nothing: give one or more")
    if not any(steps.values()):
        raise BadInput("feed, copy, kernel and result take no time: give one of them some")
    if tail > steps["kernel"]:
        raise BadInput(
            f"a tail of {pipeline.tail} ms is longer than its kernel of {pipeline.kernel} ms: give a part of it"
        )
    names = list(steps)
    graph = EventGraph()
    for stream in range(1, streams + 1):
        for step, after in zip(names, [*names[1:], names[0]], strict=True):
            last = step == names[-1]
            graph.add(f"{step} of stream {stream}", f"{after} of stream {stream}", steps[step], tokens=int(last))
            following, wraps = stream % streams + 1, int(stream == streams)
            alone = steps[step] - (tail if step == "kernel" else 0)
            graph.add(f"{step} of stream {stream}", f"{step} of stream {following}", alone, tokens=wraps)
    return float(streams / graph.period().value)


def best_streams(pipeline: Pipeline) -> int:
    """The smallest number of streams with which the slowest step never waits; raises BadInput."""
    streams = 1
    pace = launches_per_second(pipeline, streams)
    while (faster := launches_per_second(pipeline, streams + 1)) > pace:
        streams, pace = streams + 1, faster
    return streams
