"""Count on a dask cluster: one future per task, merged here.

    python docs/examples/with_dask.py 16 --scheduler tcp://head:8786
    python docs/examples/with_dask.py 12                                 # processes of this machine

The workers need langford installed. For campaigns that run for days use `langford serve` and `langford work`: a
ledger, and every result kept.
"""

from __future__ import annotations

import argparse

from distributed import Client

import langford


def main() -> None:
    """Send the tasks to the cluster, wait for the results, and merge."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("n", type=int)
    arguments.add_argument("--depth", type=int, default=8)
    arguments.add_argument("--scheduler", help="address of the cluster; default: workers of this machine")
    chosen = arguments.parse_args()
    plan = langford.plan(chosen.n, method="polyphase", depth=chosen.depth)
    local = {} if chosen.scheduler else {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with Client(chosen.scheduler, **local) as client:
        results = client.gather(client.map(plan.evaluate, plan.tasks))
    print(f"L(2,{chosen.n}) = {langford.merge(plan, results):,}")


if __name__ == "__main__":
    main()
