"""Speed of the shifted sum on one core, beside another method.

    python benchmarks/shifted.py                              all rows, about twenty minutes
    python benchmarks/shifted.py --rounds 1 langford-28       one row, once
    python benchmarks/shifted.py --beside shifted langford-28     beside the first version
    python benchmarks/shifted.py --quick                      the smallest row

Each row draws tasks of the two methods over the whole of their plans, runs them in turn, and projects the
whole count by points.  Times are processor time of this one thread, so other work on the machine hardly matters.
The ratio is the median of the ratios of the rounds.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from random import Random

import langford
from benchmarks.harness import Figure, Report, paired, parser_of, require_published, run, timed
from langford.methods import METHODS, Plan, merge
from langford.problem import Problem
from langford.problem.reference import published

# Depth and tasks a round of both versions of shifted, the same of polyphase; None: all tasks.  Each has the depth
# at which it is fastest: at depth 20 polyphase would take 93 s for L(2,20), not 21 as at depth 12.
ROWS: dict[Problem, tuple[tuple[int, int | None], tuple[int, int | None]]] = {
    Problem.langford(16): ((4, None), (8, None)),
    Problem.skolem(17): ((4, None), (8, None)),
    Problem.named("hooked-langford", 17): ((4, None), (8, None)),
    Problem.named("hooked-skolem", 18): ((4, None), (8, None)),
    Problem.langford(19): ((4, None), (8, None)),
    Problem.langford(20): ((8, 12), (12, 12)),
    Problem.skolem(21): ((8, 12), (12, 12)),
    Problem.named("hooked-skolem", 22): ((8, 2), (16, 6)),
    Problem.langford(23): ((12, 12), (16, 6)),
    Problem.langford(24): ((12, 3), (20, 24)),
    Problem.langford(26): ((20, 3), (26, 3)),
    Problem.langford(28): ((20, 1), (24, 2)),
    Problem.langford(31): ((24, 1), (32, 2)),
}
ROUNDS = 5
QUICK = [Problem.langford(16)]
NAMED = {problem.name: problem for problem in ROWS}


def core_seconds(plan: Plan, tasks: list[int]) -> float:
    """Processor seconds of the whole count, from those of some tasks."""
    evaluator = plan.evaluator()
    timing = timed(1, lambda: [evaluator.evaluate(task) for task in tasks], time.thread_time)
    for result in timing.outcome:
        plan.expectation(result.index).check(result)
    if len(tasks) == len(plan.tasks):
        require_published(plan.key, merge(plan, timing.outcome).published, published(plan.problem))
    return float(timing.median * plan.work.sum() / plan.work[tasks].sum())


def drawn_seconds(plan: Plan, tasks: int | None, random: Random) -> float:
    """The same from newly drawn tasks; None: from all."""
    return core_seconds(plan, random.sample(plan.tasks, tasks or len(plan.tasks)))


def problem_of(name: str) -> Problem:
    """The problem of a row."""
    if name not in NAMED:
        raise argparse.ArgumentTypeError(f"there is no row of {name}, only of {', '.join(NAMED)}")
    return NAMED[name]


def main(options: argparse.Namespace, report: Report) -> None:
    """Print a row for each problem."""
    first, second = "shifted2", options.beside
    table = report.table(
        "problem", "tasks a round", f"{first}, core s", f"{second}, core s", "ratio", "lowest–highest"
    )
    rounds = options.rounds or (1 if options.quick else ROUNDS)
    for problem in options.problems or (QUICK if options.quick else ROWS):
        (depth, tasks), (other_depth, other_tasks) = ROWS[problem]
        if second == "shifted":
            other_depth, other_tasks = depth, tasks
        if METHODS[first].refusal(problem) is not None:
            report.note(f"{first} does not count {problem}")
            continue
        random = Random(problem.n)
        pairs = paired(
            rounds,
            partial(drawn_seconds, langford.plan(problem, first, depth), tasks, random),
            partial(drawn_seconds, langford.plan(problem, second, other_depth), other_tasks, random),
        )
        seconds, other_seconds = pairs.medians
        table.row(
            problem,
            f"{tasks or 'all'}, {other_tasks or 'all'}",
            Figure(seconds, "{:.3g}"),
            Figure(other_seconds, "{:.3g}"),
            Figure(pairs.ratio, "{:.2f}"),
            pairs.spread,
        )


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("problems", nargs="*", type=problem_of, metavar="PROBLEM", help=f"of {', '.join(NAMED)}")
    parser.add_argument("--beside", choices=("polyphase", "shifted"), default="polyphase")
    parser.add_argument("--rounds", type=int, help=f"by default {ROUNDS}")
    run(parser, main)
