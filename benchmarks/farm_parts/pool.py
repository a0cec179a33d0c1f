"""What a pool of worker processes costs before its first task, and how much memory it takes.

Each worker evaluates one task of a hundredth of a second.  Seconds are those until all have done so, in brackets
those of all processes on the processors: medians of five pools after a first one.  Memory is that of all processes
of the pool, shared pages counted once.
"""

from __future__ import annotations

import statistics
import time

import psutil

from benchmarks.harness import Figure, Report
from benchmarks.serving import processor_seconds_of
from jobs.pools.pool import Finished
from jobs.pools.process_pool import WorkerPool
from langford.devices import CPU
from langford.methods import PlanKey
from langford.problem import Problem

KEYS = [PlanKey(Problem.langford(16), "polyphase", 12), PlanKey(Problem.langford(16), "shifted", 8)]
WORKERS, QUICK_WORKERS = (1, 2, 16, 64), (1, 2)
POOLS, QUICK_POOLS = 5, 1


def family() -> list[psutil.Process]:
    """All processes that this one has started, and theirs."""
    return list(psutil.Process().children(recursive=True))


def once(key: PlanKey, workers: int) -> tuple[float, float, float]:
    """(seconds, processor seconds, bytes) of a pool, until it has evaluated one task on each worker."""
    before, begun = set(family()), time.perf_counter()
    pool = WorkerPool(key, [CPU] * workers)
    try:
        for token in range(workers):
            pool.submit(token, 0)
        finished = 0
        while finished < workers:
            finished += sum(isinstance(news, Finished) for news in pool.poll(None))
        seconds = time.perf_counter() - begun
        processes = [process for process in family() if process not in before]
        return (
            seconds,
            processor_seconds_of(processes),
            sum(process.memory_full_info().pss for process in processes),
        )
    finally:
        pool.stop()


def measure(report: Report, quick: bool) -> None:
    """Print a row for each plan and number of workers."""
    table = report.table("plan", "workers", "seconds (processor seconds)", "MB", title="pool")
    for key in KEYS:
        for workers in QUICK_WORKERS if quick else WORKERS:
            once(key, workers)
            pools = [once(key, workers) for _ in range(QUICK_POOLS if quick else POOLS)]
            seconds, processor, memory = (statistics.median(figures) for figures in zip(*pools, strict=True))
            table.row(key.name, workers, f"{seconds:.2f} ({processor:.2f})", Figure(memory / 1e6, "{:.0f}"))
