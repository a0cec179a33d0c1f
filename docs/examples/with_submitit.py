"""Count on a cluster with submitit: one job per share of the tasks, merged here.

    python docs/examples/with_submitit.py 16 --jobs 8                    # jobs of SLURM
    python docs/examples/with_submitit.py 12 --jobs 2 --cluster local    # processes of this machine

For campaigns that run for days use `langford slurm keep`: a ledger, preemption, and every result kept.
"""

from __future__ import annotations

import argparse

import submitit

import langford


def share(n: int, depth: int, start: int, step: int) -> list[langford.PartialResult]:
    """The results of every step-th task of L(2, n); this runs in a job."""
    plan = langford.plan(n, method="polyphase", depth=depth)
    return [plan.evaluate(task) for task in range(start, len(plan.tasks), step)]


def main() -> None:
    """Submit the jobs, wait for them, and merge."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("n", type=int)
    arguments.add_argument("--depth", type=int, default=8)
    arguments.add_argument("--jobs", type=int, default=8)
    arguments.add_argument("--cluster", default="slurm", help="slurm, local or debug")
    arguments.add_argument("--folder", default="submitit-logs")
    chosen = arguments.parse_args()
    executor = submitit.AutoExecutor(folder=chosen.folder, cluster=chosen.cluster)
    executor.update_parameters(timeout_min=60)
    starts = range(chosen.jobs)
    jobs = executor.map_array(
        share, [chosen.n] * chosen.jobs, [chosen.depth] * chosen.jobs, starts, [chosen.jobs] * chosen.jobs
    )
    results = [result for job in jobs for result in job.result()]
    plan = langford.plan(chosen.n, method="polyphase", depth=chosen.depth)
    print(f"L(2,{chosen.n}) = {langford.merge(plan, results):,}")


if __name__ == "__main__":
    main()
