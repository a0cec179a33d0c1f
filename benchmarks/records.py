"""What unknown and unconfirmed counts would cost: the table of docs/records.md.

    python benchmarks/records.py

Each row scales a measured time of a whole count by the number of sign vectors, 2^filled: four times as many for
each further colour.  The last line is the error of this rule between n = 28 and 31, where a method was measured at
both.  S(33) has one colour more than today's methods take.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from benchmarks.harness import Report, parser_of, run
from langford.problem import Problem

TARGETS = [Problem.langford(31), Problem.langford(32), Problem.skolem(32), Problem.skolem(33)]
HOUR, YEAR = 3600.0, 31_557_600.0


@dataclass(frozen=True)
class Measured:
    """A measured time of a whole count.

    Attributes:
        method: by which.
        device: on what.
        n: L(2,n) was counted, or some of its tasks were, with the rest projected by points.
        seconds: of one device.
        source: where the figure is from.
    """

    method: str
    device: str
    n: int
    seconds: float
    source: str

    def seconds_for(self, problem: Problem) -> float:
        """Seconds of one device for another problem."""
        return self.seconds * 2.0 ** (len(problem.filled) - len(Problem.langford(self.n).filled))


MEASURED = [
    Measured("shifted2", "H200", 31, 104_800.0, "benchmarks/sums_gpu.py, eight drawn tasks"),
    Measured("shifted2", "H100", 31, 111_100.0, "the same eight, by the kernel before"),
    Measured("shifted", "H200", 31, 130_700.0, "benchmarks/sums_gpu.py, eight drawn tasks"),
    Measured("shifted", "H100", 31, 133_000.0, "benchmarks/sums_gpu.py, the same eight"),
    Measured("polyphase", "H100", 31, 217_500.0, "benchmarks/sums_gpu.py, 43 drawn tasks"),
    Measured("Jourdelune/langford", "H200", 31, 268 * HOUR, "its program, run by us"),
    Measured("shifted", "core of a Zen 4 EPYC", 31, 9.14e7, "benchmarks/shifted.md"),
    Measured("polyphase", "core of a Zen 4 EPYC", 31, 4.83e8, "benchmarks/shifted.md"),
]
SMALLER = [
    Measured("shifted2", "H200", 28, 1_839.0, "benchmarks/sums_gpu.py"),
    Measured("shifted2", "H100", 28, 1_958.0, "benchmarks/sums_gpu.py"),
    Measured("shifted", "H200", 28, 2_316.0, "benchmarks/sums_gpu.py"),
    Measured("shifted", "H100", 28, 2_372.0, "benchmarks/sums_gpu.py"),
    Measured("polyphase", "H100", 28, 3_864.0, "benchmarks/sums_gpu.py"),
    Measured("Jourdelune/langford", "H200", 28, 18_650.0, "its program, run by us"),
    Measured("shifted", "core of a Zen 4 EPYC", 28, 1.24e6, "benchmarks/shifted.md"),
    Measured("polyphase", "core of a Zen 4 EPYC", 28, 6.46e6, "benchmarks/shifted.md"),
]
"""The other n at which the same was measured, to see how well times scale."""


def largest_error() -> float:
    """The largest relative difference between a time scaled from the smaller n and the measured one."""
    pairs = [(small, large) for small in SMALLER for large in MEASURED]
    return max(
        abs(small.seconds_for(Problem.langford(large.n)) / large.seconds - 1)
        for small, large in pairs
        if (small.method, small.device) == (large.method, large.device)
    )


def shown(seconds: float, device: str) -> str:
    """Hours of a GPU, or years of a core."""
    if not device.startswith("core"):
        return f"{seconds / HOUR:,.0f} GPU hours"
    years = seconds / YEAR
    return f"{years:,.{1 if years < 10 else 0}f} core years"


def main(options: argparse.Namespace, report: Report) -> None:
    """Print the table; nothing is measured here."""
    table = report.table("method", "device", *map(str, TARGETS), "measured")
    for measured in MEASURED:
        costs = [shown(measured.seconds_for(problem), measured.device) for problem in TARGETS]
        source = f"L(2,{measured.n}): {measured.source}"
        table.row(measured.method, measured.device, *costs, source)
    print()
    report.note(f"Between n = 28 and n = 31, this rule is off by at most {largest_error():.0%}.")


if __name__ == "__main__":
    run(parser_of(__doc__), main)
