"""A farm against the timed event graph that `langford irregular farm` makes of it.

    python benchmarks/farm_model.py
    python benchmarks/farm_model.py --seconds 6 --turns 5

A real server, and workers that are processes: each leases a batch over HTTP, waits as long as its tasks would
take, and delivers.  Waiting, because workers of a farm have cores of their own, and here they would take those of
the server; on Linux it has a core for itself, and the workers share the others.  One worker alone tells what the
model is given: a round trip is what a request takes besides the server's work, and that work is the processor time
of the server, because its requests take turns at that.  Then 2, 4 and 8 workers are measured.  The turns are
interleaved, and the figures are medians over them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
from farm import new_campaign, served
from harness import Table

from db import Delivery
from db.states import Role
from jobs.farm.client import RemoteCampaign
from jobs.identity import Identity
from jobs.throughput import Farm, Throughput, throughput
from langford.result import Evaluation, PartialResult

WORKERS = (2, 4, 8)
SETTINGS = ((4, 0.025), (8, 0.002))
"""Tasks of a batch, and seconds of a task."""
WARM_UP = 0.5
"""Seconds after which a farm has its pace."""


@dataclass(frozen=True)
class Share:
    """What one worker saw after the warm-up.

    Attributes:
        tasks: delivered.
        lease, result: seconds of every request.
    """

    tasks: int
    lease: list[float]
    result: list[float]


@dataclass(frozen=True)
class Turn:
    """What a farm did for some seconds.

    Attributes:
        pace: tasks per second.
        lease, result: seconds of a request, medians.
        served: processor time of the server for a lease and its results, seconds.
    """

    pace: float
    lease: float
    result: float
    served: float


def worker(url: str, token: str, orders: Connection) -> None:
    """Work whenever there is an order: (start, end, batch, seconds of a task); None: no more."""
    server, me = RemoteCampaign(url, token), Identity.fresh()
    server.enrol(me)
    orders.send(None)
    while (order := orders.recv()) is not None:
        orders.send(work(server, me.worker_id, *order))


def work(server: RemoteCampaign, worker_id: str, start: float, end: float, batch: int, task: float) -> Share:
    """Lease, wait and deliver from ``start`` to ``end``, by time.monotonic."""
    tasks, lease, result = 0, [], []
    time.sleep(max(0.0, start - time.monotonic()))
    while time.monotonic() < end:
        begin = time.monotonic()
        leases = server.lease(worker_id, batch, 600, [])
        leased = time.monotonic()
        time.sleep(task * len(leases))
        evaluated = time.monotonic()
        evaluations = [Evaluation(PartialResult(lease.index, 0, 0, 0), 0.0, "{}") for lease in leases]
        pairs = zip(leases, evaluations, strict=True)
        server.deliver([Delivery(lease.attempt, lease.nonce, evaluation) for lease, evaluation in pairs])
        delivered = time.monotonic()
        if start + WARM_UP < delivered < end:
            tasks += len(leases)
            lease.append(leased - begin)
            result.append(delivered - evaluated)
    return Share(tasks, lease, result)


def turn(server: psutil.Process, workers: list[Connection], batch: int, task: float, seconds: float) -> Turn:
    """A farm of these workers for some seconds."""
    start = time.monotonic() + 0.2
    end = start + WARM_UP + seconds
    for orders in workers:
        orders.send((start, end, batch, task))
    time.sleep(start + WARM_UP - time.monotonic())
    before = server.cpu_times()
    time.sleep(end - time.monotonic())
    after = server.cpu_times()
    shares: list[Share] = [orders.recv() for orders in workers]
    tasks = sum(share.tasks for share in shares)
    busy = after.user + after.system - before.user - before.system
    lease, result = (
        statistics.median(value for share in shares for value in values(share))
        for values in (lambda share: share.lease, lambda share: share.result)
    )
    return Turn(tasks / seconds, lease, result, busy * batch / tasks)


def described(alone: Turn, workers: int, batch: int, task: float) -> Farm:
    """The farm of so many workers, by what one alone has seen."""
    requests = alone.lease + alone.result
    share = min(1.0, alone.served / requests)
    lease_ms, result_ms = (1000 * share * value for value in (alone.lease, alone.result))
    return Farm(workers, batch, task, lease_ms, result_ms, 500 * (1 - share) * requests)


def main() -> None:
    """Print predictions beside measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="langford-model-"))
    ledger, campaign = new_campaign(str(folder / "ledger.db"))
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) > 1:  # processes that are started have those of this one
        os.sched_setaffinity(0, cores[:1])
    process, url = served(str(folder / "ledger.db"), campaign.name)
    if len(cores) > 1:
        os.sched_setaffinity(0, cores[1:])
    context = multiprocessing.get_context("spawn")
    workers, processes = [], []
    for _ in range(max(WORKERS)):
        here, there = context.Pipe()
        one = context.Process(target=worker, args=(url, campaign.new_token(Role.WORKER), there), daemon=True)
        one.start()
        workers.append(here)
        processes.append(one)
    for orders in workers:
        orders.recv()
    server = psutil.Process(process.pid)
    table = Table(
        "tasks", "workers", "at most, tasks/s", "expected", "measured", "of expected", "limited by",
        "server per batch, ms",
    )  # fmt: skip
    for batch, task in SETTINGS:
        turns: dict[int, list[tuple[Throughput, Turn]]] = {number: [] for number in WORKERS}
        for _ in range(arguments.turns):
            alone = turn(server, workers[:1], batch, task, arguments.seconds)
            for number in WORKERS:
                pace = throughput(described(alone, number, batch, task))
                turns[number].append((pace, turn(server, workers[:number], batch, task, arguments.seconds)))
        for number, rows in turns.items():
            most, expected, measured, ratio, served_ms = (
                statistics.median(values)
                for values in zip(
                    *(
                        (
                            pace.tasks_per_second, pace.expected_tasks_per_second, seen.pace,
                            seen.pace / pace.expected_tasks_per_second, 1000 * seen.served,
                        )
                        for pace, seen in rows
                    ),
                    strict=True,
                )
            )  # fmt: skip
            saturates_at = rows[0][0].saturates_at
            table.row(
                f"batches of {batch}, {1000 * task:g} ms each", number, f"{most:,.1f}", f"{expected:,.1f}",
                f"{measured:,.1f}", f"{ratio:.2f}",
                "server" if saturates_at and number >= saturates_at else "workers", f"{served_ms:.1f}",
            )  # fmt: skip
    for orders in workers:
        orders.send(None)
    for one in processes:
        one.join()
    process.terminate()
    process.wait()
    ledger.close()


if __name__ == "__main__":
    main()
