"""Count without a ledger: all tasks of a plan on the threads of this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

from jobs.evaluation import PlanKey, evaluate, plan_of
from langford.methods import Count, merge


def count(
    key: PlanKey, threads: int, tell: Callable[[float, float], None] = lambda done, seconds: None
) -> tuple[Count, float]:
    """The exact count and the seconds it took.

    Kernels release the interpreter, so threads use all cores.  ``tell(work done, seconds)``
    is called after every task, largest tasks first.
    """
    plan = plan_of(key)
    plan.warm_up()
    start = time.perf_counter()
    order = sorted(range(len(plan.work)), key=lambda index: -plan.work[index])
    done = 0.0
    results = []
    with ThreadPoolExecutor(threads) as pool:
        waiting = {pool.submit(evaluate, key, index): index for index in order}
        try:
            for future in as_completed(waiting):
                results.append(future.result().result)
                done += float(plan.work[waiting[future]])
                tell(done, time.perf_counter() - start)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return merge(plan, results), time.perf_counter() - start
