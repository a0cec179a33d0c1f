"""A farm against the timed event graph that :mod:`event_graph_parts.throughput` makes of it.

A real server, and workers that are processes: each leases a batch over HTTP, waits as long as its tasks would
take, and delivers.  Waiting, because workers of a farm have cores of their own, and here they would take those of
the server; on Linux it has a core for itself, and the workers share the others.  One worker alone gives the model
its figures: a round trip is what a request takes besides the server's work, and that work is the processor time of
the server, because its requests take turns at that.  Then 2, 4 and 8 workers are measured.  The turns are
interleaved, and the figures are medians over them.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import psutil

from benchmarks.event_graph_parts.throughput import Farm, Throughput, throughput
from benchmarks.harness import Figure, Report, Table
from benchmarks.serving import new_campaign, processor_seconds_of, served
from db import Campaign, Delivery
from db.identity import Identity
from db.states import Role
from jobs.reach.remote import RemoteCampaign, RemoteServer
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
    server, me = RemoteServer(url, token).campaign(), Identity.fresh()
    server.enrol(me, 1, 60.0, [])  # returned by the next lease
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
        server.deliver([Delivery.of(lease, evaluation) for lease, evaluation in pairs])
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
    before = processor_seconds_of([server])
    time.sleep(end - time.monotonic())
    busy = processor_seconds_of([server]) - before
    shares: list[Share] = [orders.recv() for orders in workers]
    tasks = sum(share.tasks for share in shares)
    lease = statistics.median(value for share in shares for value in share.lease)
    result = statistics.median(value for share in shares for value in share.result)
    return Turn(tasks / seconds, lease, result, busy * batch / tasks)


def described(alone: Turn, workers: int, batch: int, task: float) -> Farm:
    """The farm of this number of workers, by what one alone has seen."""
    requests = alone.lease + alone.result
    share = min(1.0, alone.served / requests)
    lease_ms, result_ms = (1000 * share * value for value in (alone.lease, alone.result))
    return Farm(workers, batch, task, lease_ms, result_ms, 500 * (1 - share) * requests)


@contextmanager
def started(url: str, campaign: Campaign, number: int) -> Iterator[list[Connection]]:
    """Workers that wait for orders, until the end of the block."""
    context = multiprocessing.get_context("spawn")
    workers, processes = [], []
    for _ in range(number):
        here, there = context.Pipe()
        one = context.Process(
            target=worker, args=(url, campaign.operator.new_token(Role.WORKER), there), daemon=True
        )
        one.start()
        workers.append(here)
        processes.append(one)
    for orders in workers:
        orders.recv()
    yield workers
    for orders in workers:
        orders.send(None)
    for one in processes:
        one.join()


def measure(report: Report, folder: Path, turns: int, seconds: float) -> None:
    """Print predictions beside measurements."""
    where = str(folder / "ledger.db")
    ledger, campaign = new_campaign(where)
    table = report.table(
        "tasks", "workers", "at most, tasks/s", "expected", "measured", "of expected", "limited by",
        "server per batch, ms", title="farm",
    )  # fmt: skip
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) > 1:  # processes that are started have those of this one
        os.sched_setaffinity(0, cores[:1])
    with served(where, campaign.name) as (server, url):
        if len(cores) > 1:
            os.sched_setaffinity(0, cores[1:])
        with started(url, campaign, max(WORKERS)) as workers:
            for batch, task in SETTINGS:
                show(table, batch, task, in_turn(server, workers, batch, task, turns, seconds))
    if len(cores) > 1:
        os.sched_setaffinity(0, cores)
    ledger.close()


Turns = dict[int, list[tuple[Throughput, Turn]]]
"""By the number of workers, what was expected and what came in each turn."""


def in_turn(
    server: psutil.Process, workers: list[Connection], batch: int, task: float, turns: int, seconds: float
) -> Turns:
    """Measure one worker alone and then farms of several sizes, again and again."""
    seen: Turns = {number: [] for number in WORKERS}
    for _ in range(turns):
        alone = turn(server, workers[:1], batch, task, seconds)
        for number in WORKERS:
            pace = throughput(described(alone, number, batch, task))
            seen[number].append((pace, turn(server, workers[:number], batch, task, seconds)))
    return seen


def show(table: Table, batch: int, task: float, seen: Turns) -> None:
    """Print the medians."""
    for number, rows in seen.items():
        most, expected, measured, ratio, served_ms = (
            statistics.median(values)
            for values in zip(
                *(
                    (
                        pace.tasks_per_second, pace.expected_tasks_per_second, one.pace,
                        one.pace / pace.expected_tasks_per_second, 1000 * one.served,
                    )
                    for pace, one in rows
                ),
                strict=True,
            )
        )  # fmt: skip
        saturates_at = rows[0][0].saturates_at
        table.row(
            f"batches of {batch}, {1000 * task:g} ms each", number, Figure(most, "{:,.1f}"),
            Figure(expected, "{:,.1f}"), Figure(measured, "{:,.1f}"), Figure(ratio, "{:.2f}"),
            "server" if saturates_at and number >= saturates_at else "workers", Figure(served_ms, "{:.1f}"),
        )  # fmt: skip
