"""Speed of the shifted sum on one core, beside the polyphase form.

    python benchmarks/shifted.py                              all rows, about twenty minutes
    python benchmarks/shifted.py --rounds 1 langford-28       one row, once

Each row draws tasks of the two methods over the whole of their plans, runs them in turn, and projects the
whole count by points.  Times are processor time of this one thread, so that other work on the machine counts
little; the ratio is the median over the rounds of the ratio of a round.
"""

from __future__ import annotations

import argparse
import statistics
import time
from random import Random

from harness import Table, require_published

import langford
from langford.methods import Plan, merge
from langford.problem import Problem
from langford.reference import published

# Depth and tasks a round of shifted, the same of polyphase; None: all tasks.  Each has the depth at which it is
# fastest: at depth 20 polyphase would take 93 s for L(2,20), not 21 as at depth 12.
ROWS: dict[Problem, tuple[tuple[int, int | None], tuple[int, int | None]]] = {
    Problem.langford(16): ((4, None), (8, None)),
    Problem.skolem(17): ((4, None), (8, None)),
    Problem.hooked_langford(17): ((4, None), (8, None)),
    Problem.hooked_skolem(18): ((4, None), (8, None)),
    Problem.langford(19): ((4, None), (8, None)),
    Problem.langford(20): ((8, 12), (12, 12)),
    Problem.skolem(21): ((8, 12), (12, 12)),
    Problem.hooked_skolem(22): ((8, 2), (16, 6)),
    Problem.langford(23): ((12, 12), (16, 6)),
    Problem.langford(24): ((12, 3), (20, 24)),
    Problem.langford(26): ((20, 3), (26, 3)),
    Problem.langford(28): ((20, 1), (24, 2)),
    Problem.langford(31): ((24, 1), (32, 2)),
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
    named = {problem.name: problem for problem in ROWS}
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help=f"of {', '.join(named)}")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for name in options.problems:
        if name not in named:
            parser.error(f"there is no row of {name}, only of {', '.join(named)}")
    table = Table("problem", "tasks a round", "shifted, core s", "polyphase, core s", "ratio", "lowest–highest")
    for problem in [named[name] for name in options.problems or named]:
        (shifted_depth, shifted_tasks), (polyphase_depth, polyphase_tasks) = ROWS[problem]
        sides = [
            (langford.plan(problem, "shifted", shifted_depth), shifted_tasks),
            (langford.plan(problem, "polyphase", polyphase_depth), polyphase_tasks),
        ]
        random = Random(problem.n)
        rounds = []
        for _ in range(options.rounds):
            drawn = [(plan, random.sample(plan.tasks, tasks or len(plan.tasks))) for plan, tasks in sides]
            rounds.append([core_seconds(plan, tasks) for plan, tasks in drawn])
        shifted, polyphase = (statistics.median(column) for column in zip(*rounds, strict=True))
        ratios = [after / before for before, after in rounds]
        table.row(
            problem,
            f"{shifted_tasks or 'all'}, {polyphase_tasks or 'all'}",
            f"{shifted:.3g}",
            f"{polyphase:.3g}",
            f"{statistics.median(ratios):.2f}",
            f"{min(ratios):.2f}–{max(ratios):.2f}",
        )


if __name__ == "__main__":
    main()
