"""Count without a ledger: all tasks of a plan on the threads of this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue

from jobs.evaluation import evaluate, evaluator_of, plan_of
from langford.devices import Device
from langford.methods import Count, PlanKey, largest_first, merge
from langford.result import Evaluation


def count(
    key: PlanKey, devices: Sequence[Device], tell: Callable[[float, float], None] = lambda done, seconds: None
) -> tuple[Count, float]:
    """The exact count and the seconds it took.

    Kernels release the interpreter, so one thread per device keeps them all busy.
    ``tell(work done, seconds)`` is called after every task, largest tasks first.
    """
    plan = plan_of(key)
    for device in set(devices):
        evaluator_of(key, device)
    start = time.perf_counter()
    order = largest_first(plan)
    done = 0.0
    results = []
    free: SimpleQueue[Device] = SimpleQueue()
    for device in devices:
        free.put(device)

    def compute(index: int) -> Evaluation:
        device = free.get()
        try:
            return evaluate(key, index, device)
        finally:
            free.put(device)

    with ThreadPoolExecutor(len(devices)) as pool:
        waiting = {pool.submit(compute, index): index for index in order}
        try:
            for future in as_completed(waiting):
                results.append(future.result().result)
                done += float(plan.work[waiting[future]])
                tell(done, time.perf_counter() - start)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return merge(plan, results), time.perf_counter() - start
