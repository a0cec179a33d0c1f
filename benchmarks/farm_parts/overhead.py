"""What a whole farm costs beside its computing.

L(2,20) in tasks of about a second, on two workers of a server, beside two processes that share a counter: at the
same time, on the other half of the cores, and the other way round in the next pair.  One after the other, what else
the machine does made runs 15% slower or faster.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import text

from benchmarks.harness import Figure, Pairs, Table
from benchmarks.serving import processor_seconds_of, served
from db import Ledger
from db.states import Role
from jobs.pools.evaluation import evaluate
from jobs.reach.join import Join
from langford.methods import PlanKey, plan_of
from langford.problem import Problem

KEY = PlanKey(Problem.langford(20), "polyphase", 12)
QUICK_KEY = PlanKey(Problem.langford(16), "polyphase", 12)
PAIRS = 5


def evaluate_next(key: PlanKey, next_task: Any, barrier: Any, out: Any) -> None:
    """Evaluate tasks by a shared counter; the moment of the end goes to ``out``."""
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
    end: float = max(out.get() for _ in processes)
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
    with served(where, campaign.name) as (server, url):
        file = Path(f"{where}.join")
        Join([url], campaign.operator.new_token(Role.WORKER)).write(file)
        worker = [sys.executable, "-m", "langford", "work", str(file), "--workers", "1"]
        workers = [
            subprocess.Popen([*worker, "--outbox", f"{where}-{k}"], stderr=subprocess.DEVNULL) for k in range(2)
        ]
        while not campaign.reader.standing().tasks.get("done"):
            time.sleep(0.2)
        own = [server, *(psutil.Process(process.pid) for process in workers)]
        before = after = processor_seconds_of(own)
        while all(process.poll() is None for process in workers):
            after = processor_seconds_of(own)
            time.sleep(0.2)
        for process in workers:
            process.wait()
    with ledger.database.reading() as connection:
        # A worker's first task waits for its process to start: that is not the farm's doing.
        first = text("SELECT min(r.accepted - r.seconds) FROM result r")
        last = connection.scalar(text("SELECT max(accepted) FROM result"))
        return float(last - connection.scalar(first)), after - before


def on_cores(cores: set[int], what: Any, *arguments: Any) -> Any:
    """Call something whose processes keep to these cores: they inherit what this thread may use."""
    os.sched_setaffinity(0, cores)
    return what(*arguments)


def measure(table: Table, folder: Path, quick: bool) -> None:
    """Print what a farm of tasks of a second costs, in the median of some pairs of runs."""
    key, pairs = (QUICK_KEY, 1) if quick else (KEY, PAIRS)
    tasks = len(plan_of(key).work)
    cores = sorted(os.sched_getaffinity(0))
    each = min(2, len(cores) // 2)
    sides = [set(cores[:each]), set(cores[each : 2 * each])]
    bare, farm, own = [], [], list[float]()
    with ThreadPoolExecutor(2) as both:
        for pair in range(pairs):
            ledger = str(folder / f"overhead-{pair}.db")
            here, there = sides if pair % 2 else sides[::-1]
            with_farm = both.submit(on_cores, here, farm_seconds, ledger, key)
            without = both.submit(on_cores, there, bare_seconds, key)
            seconds, cpu = with_farm.result()
            bare.append(without.result())
            farm.append(seconds)
            own.append(cpu / (each * seconds))
    both_ways = Pairs(tuple(bare), tuple(farm))
    ratios = sorted(ratio - 1 for ratio in both_ways.ratios)
    length = each * both_ways.medians[0] / tasks
    table.row(
        f"{key.problem} in {tasks} tasks of {length:.2f} s, 2 workers of a server on {each} cores, against the "
        "same without a farm on as many",
        f"{both_ways.ratio - 1:+.1%}, median of {pairs} pairs ({', '.join(f'{ratio:+.1%}' for ratio in ratios)})",
    )
    table.row(
        "CPU time of the server and of the workers' own processes meanwhile",
        Figure(statistics.median(own), "{:.1%} of these cores"),
    )
