"""What a pool of worker processes costs before its first task, and how much memory it takes.

    python benchmarks/pool.py

Each worker evaluates one task of a hundredth of a second.  Seconds are those until all have done so, in brackets
those of all processes on the processors: medians of five pools after a first one.  Memory is that of all processes
of the pool, shared pages counted once.
"""

from __future__ import annotations

import statistics
import time

import psutil
from harness import Table

from jobs.pool import Finished
from jobs.worker_pool import WorkerPool
from langford.devices import CPU
from langford.methods import PlanKey
from langford.problem import Problem

KEYS = [PlanKey(Problem.langford(16), "polyphase", 12), PlanKey(Problem.langford(16), "shifted", 8)]
WORKERS = (1, 2, 16, 64)
POOLS = 5


def family() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def seconds_of(processes: list[psutil.Process]) -> float:
    """What they have used of the processors until now."""
    return sum(times.user + times.system for times in (process.cpu_times() for process in processes))


def measured(key: PlanKey, workers: int) -> tuple[float, float, float]:
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
        return seconds, seconds_of(processes), sum(process.memory_full_info().pss for process in processes)
    finally:
        pool.stop()


def main() -> None:
    table = Table("plan", "workers", "seconds (processor seconds)", "MB")
    for key in KEYS:
        for workers in WORKERS:
            measured(key, workers)
            pools = [measured(key, workers) for _ in range(POOLS)]
            seconds, processor, memory = (statistics.median(figures) for figures in zip(*pools, strict=True))
            table.row(key.name, workers, f"{seconds:.2f} ({processor:.2f})", f"{memory / 1e6:.0f}")


if __name__ == "__main__":
    main()
