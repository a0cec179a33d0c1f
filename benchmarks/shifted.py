"""Speed of the shifted sum on one core, beside the polyphase form.

    python benchmarks/shifted.py                  all rows, about ten minutes
    python benchmarks/shifted.py --rounds 1 28    one n, once

Each row draws tasks of the two methods over the whole of their plans, runs them in turn, and projects the
whole count by points.  Times are processor time of this one thread, so that other work on the machine counts
little; the ratio is the median over the rounds of the ratio of a round.
"""

from __future__ import annotations

import argparse
import statistics
import time
from random import Random

from table import Table, require_published

import langford
from langford.methods import Plan, merge
from langford.problem import Problem
from langford.reference import published

# n: depth and tasks a round of shifted, the same of polyphase; None: all tasks
ROWS: dict[int, tuple[tuple[int, int | None], tuple[int, int | None]]] = {
    16: ((4, None), (8, None)),
    20: ((8, 3), (20, 6)),
    24: ((12, 1), (24, 4)),
    26: ((20, 3), (26, 3)),
    28: ((20, 1), (28, 2)),
    31: ((24, 1), (32, 2)),
}


def core_seconds(plan: Plan, tasks: list[int]) -> float:
    """Processor seconds of the whole count, from those of some tasks."""
    evaluator = plan.evaluator()
    start = time.thread_time()
    results = [evaluator.evaluate(task) for task in tasks]
    seconds = time.thread_time() - start
    for result in results:
        plan.expectation(result.index).check(result)
    if len(tasks) == len(plan.tasks):
        require_published(plan.key, merge(plan, results).published, published(plan.problem))
    return float(seconds * plan.work.sum() / plan.work[tasks].sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", type=int, nargs="*", default=list(ROWS))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    table = Table("n", "tasks a round", "shifted, core s", "polyphase, core s", "ratio", "lowest–highest")
    for n in options.n:
        (shifted_depth, shifted_tasks), (polyphase_depth, polyphase_tasks) = ROWS[n]
        sides = [
            (langford.plan(Problem.langford(n), "shifted", shifted_depth), shifted_tasks),
            (langford.plan(Problem.langford(n), "polyphase", polyphase_depth), polyphase_tasks),
        ]
        random = Random(n)
        rounds = []
        for _ in range(options.rounds):
            drawn = [(plan, random.sample(plan.tasks, tasks or len(plan.tasks))) for plan, tasks in sides]
            rounds.append([core_seconds(plan, tasks) for plan, tasks in drawn])
        shifted, polyphase = (statistics.median(column) for column in zip(*rounds, strict=True))
        ratios = [after / before for before, after in rounds]
        table.row(
            n,
            f"{shifted_tasks or 'all'}, {polyphase_tasks or 'all'}",
            f"{shifted:.3g}",
            f"{polyphase:.3g}",
            f"{statistics.median(ratios):.2f}",
            f"{min(ratios):.2f}–{max(ratios):.2f}",
        )


if __name__ == "__main__":
    main()
