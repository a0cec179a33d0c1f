"""Tasks claimed and completed by many processes at once, in the ledger itself and through a server.

Sixteen processes claim tasks in batches and hand in results at once, without computing anything: the sum 0
passes the checks of a task.  "p99 claim" is the time of a whole batch, with all processes always asking; then
with pauses.
"""

from __future__ import annotations

import multiprocessing
import random
import statistics
import time
import uuid
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import Table
from benchmarks.serving import NAME, empty_database, new_campaign, served
from db import Delivery, Lease, Ledger, WorkerCampaign
from db.identity import Identity
from db.states import Role
from db.trust.enrolment import insert_worker
from jobs.reach.remote import RemoteCampaign, RemoteServer
from langford.result import Evaluation, PartialResult


@dataclass(frozen=True)
class Size:
    """How many workers claim how many tasks."""

    workers: int
    tasks: int


FULL, QUICK = Size(16, 20_000), Size(4, 1_000)
BATCH, FIRST = 32, 16
PACED_DIRECTLY, PACED_REMOTELY = (96, 3300.0), (192, 1700.0)
"""(tasks per claim, tasks a second if claims took no time): what two cores can do without queues."""


def claim_directly(where: str, quota: int, batch: int, pause: float, barrier: Any, out: Any) -> None:
    """A worker in the ledger itself; the seconds of its claims go to ``out``."""
    ledger = Ledger(where)
    campaign = ledger.campaign(NAME)
    me = Identity.fresh()
    with ledger.database.writing() as connection:
        insert_worker(connection, me.worker_id, me.host, me.process)
    together(partial(lease_from, campaign.worker, me), campaign.worker.deliver, quota, batch, pause, barrier, out)


def claim_remotely(url: str, token: str, quota: int, batch: int, pause: float, barrier: Any, out: Any) -> None:
    """A worker of a server; the seconds of its claims go to ``out``."""
    server = RemoteServer(url, token).campaign()
    me = Identity.fresh()
    server.enrol(me, 1, 60.0, [])  # returned by the next lease
    together(partial(lease_from, server, me), server.deliver, quota, batch, pause, barrier, out)


def lease_from(campaign: WorkerCampaign | RemoteCampaign, me: Identity, count: int) -> list[Lease]:
    """Lease up to this number of tasks."""
    return campaign.lease(me.worker_id, count, 600, [])


def together(claim: Any, deliver: Any, quota: int, batch: int, pause: float, barrier: Any, out: Any) -> None:
    """Work together with the others, after first tasks that find everything loaded and connected.

    They bring as many results as a claim takes tasks: a token that has brought few may not hold many.
    """
    work(claim, deliver, batch, FIRST, 0.0)
    barrier.wait()
    out.put(work(claim, deliver, quota, batch, pause))


def work(claim: Any, deliver: Any, quota: int, batch: int, pause: float) -> list[float]:
    """Seconds of every claim; ``pause`` is the time before each, on average."""
    claims = []
    while quota > 0:
        time.sleep(random.uniform(0, 2 * pause))
        start = time.perf_counter()
        leases = claim(min(batch, quota))
        claims.append(time.perf_counter() - start)
        if not leases:
            break
        evaluations = [Evaluation(PartialResult(lease.index, 0, 0, 0), 0.0, "{}") for lease in leases]
        deliver([Delivery.of(lease, evaluation) for lease, evaluation in zip(leases, evaluations, strict=True)])
        quota -= len(leases)
    return claims


def race(size: Size, batch: int, rate: float | None, target: Any, *arguments: Any) -> tuple[float, float]:
    """(tasks a second, p99 of a claim in ms) of all workers together."""
    pause = size.workers * batch / rate if rate else 0.0
    context = multiprocessing.get_context("spawn")
    barrier, out = context.Barrier(size.workers + 1), context.Queue()
    quota = size.tasks // size.workers
    processes = [
        context.Process(target=target, args=(*arguments, quota, batch, pause, barrier, out))
        for _ in range(size.workers)
    ]
    for process in processes:
        process.start()
    barrier.wait()
    start = time.perf_counter()
    claims = [claim for _ in processes for claim in out.get(timeout=120)]
    seconds = time.perf_counter() - start
    for process in processes:
        process.join()
    return size.tasks / seconds, 1000 * statistics.quantiles(claims, n=100)[98]


def row(table: Table, size: Size, what: str, batch: int, rate: float | None, target: Any, *arguments: Any) -> None:
    """Let the workers race, and print their row."""
    speed, p99 = race(size, batch, rate, target, *arguments)
    pauses = " with pauses" if rate else ""
    table.row(
        f"{size.tasks:,} tasks, {size.workers} workers{pauses}, {batch} tasks a claim, {what}",
        f"{speed:,.0f} tasks/s, p99 claim {p99:.0f} ms",
    )


def measure(table: Table, folder: Path, postgres: Any, quick: bool) -> None:
    """Print the rows of workers in the ledger itself, and of those of a server."""
    size = QUICK if quick else FULL

    def file() -> str:
        return str(folder / f"{uuid.uuid4().hex}.db")

    def database() -> str:
        return empty_database(postgres, f"ledger_{uuid.uuid4().hex}")

    for kind, place in (("Postgres", database), ("SQLite", file)):
        for batch, rate in ((BATCH, None), PACED_DIRECTLY):
            where = place()
            new_campaign(where)[0].close()
            row(table, size, f"{kind} directly", batch, rate, claim_directly, where)
    # Fewer tasks a claim are more requests than the server takes from one address, on a fast machine.
    for batch, rate in ((2 * BATCH, None), PACED_REMOTELY):
        where = file()
        ledger, campaign = new_campaign(where)
        token = campaign.operator.new_token(Role.WORKER)
        with served(where, campaign.name) as (_, url):
            row(table, size, "through the server, SQLite", batch, rate, claim_remotely, url, token)
        ledger.close()
