"""What all benchmarks do alike: they time, compare in pairs, print tables in Markdown, and keep the rows as JSON.

A benchmark is a function of its options and a :class:`Report`::

    def main(options: argparse.Namespace, report: Report) -> None:
        table = report.table("method", "median s", "min–max")
        timing = timed(5, count)
        table.row("polyphase", Figure(timing.median, "{:.3g}"), timing.spread)

    if __name__ == "__main__":
        run(parser_of(__doc__), main)
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from langford.devices import CPU
from langford.errors import LangfordError
from langford.kernels.gpu.runtime import NoGpu
from langford.machine.cores import cores
from langford.provenance import kernel_hash, versions

Outcome = TypeVar("Outcome")
Clock = Callable[[], float]
"""Seconds since a fixed moment."""

NEEDS_MORE = 77
"""Exit code of a benchmark that needs what this machine lacks, such as a GPU."""
EXTRAS = {"cupy": "cuda12] or langford[cuda13", "matplotlib": "draw", "mpi4py": "mpi"}
"""The extra of this package that installs a module; the other modules come with ``test``."""


# -- time -----------------------------------------------------------------------------------


def processor_seconds() -> float:
    """Processor time of this process, and of its child processes that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


@dataclass(frozen=True)
class Timing(Generic[Outcome]):
    """Several runs of one action.

    Attributes:
        seconds: of each run, by the clock that was asked for.
        processor: processor seconds of each run.
        outcome: what the last run returned.
    """

    seconds: tuple[float, ...]
    processor: tuple[float, ...]
    outcome: Outcome

    @property
    def median(self) -> float:
        """Median seconds."""
        return statistics.median(self.seconds)

    @property
    def median_processor(self) -> float:
        """Median processor seconds."""
        return statistics.median(self.processor)

    @property
    def spread(self) -> str:
        """The fastest and the slowest run."""
        return f"{min(self.seconds):.3g}–{max(self.seconds):.3g}"


def timed(
    runs: int,
    action: Callable[[], Outcome],
    clock: Clock = time.perf_counter,
    processor: Clock = processor_seconds,
    warm_up: bool = False,
) -> Timing[Outcome]:
    """Time an action.

    Args:
        runs: how often, at least once.
        action: what is timed.
        clock: the wall clock, or another one.
        processor: whose processor time is noted beside it.
        warm_up: whether the action runs once before, untimed.
    """
    if warm_up:
        action()
    seconds, used = [], []
    for _ in range(runs):
        before, start = processor(), clock()
        outcome = action()
        seconds.append(clock() - start)
        used.append(processor() - before)
    return Timing(tuple(seconds), tuple(used), outcome)


@dataclass(frozen=True)
class Pairs:
    """Two sides that were measured in pairs, so that a change of the machine's pace meets both.

    Attributes:
        first, second: seconds of each pair.
    """

    first: tuple[float, ...]
    second: tuple[float, ...]

    @property
    def medians(self) -> tuple[float, float]:
        """Median seconds of either side."""
        return statistics.median(self.first), statistics.median(self.second)

    @property
    def ratios(self) -> list[float]:
        """Seconds of the second side by those of the first, pair by pair."""
        return [second / first for first, second in zip(self.first, self.second, strict=True)]

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return statistics.median(self.ratios)

    @property
    def spread(self) -> str:
        """The lowest and the highest ratio."""
        return f"{min(self.ratios):.2f}–{max(self.ratios):.2f}"


def paired(pairs: int, first: Callable[[], float], second: Callable[[], float]) -> Pairs:
    """Measure two sides in turn: A B A B.

    Args:
        pairs: how many.
        first, second: measure a side once, and return its seconds.
    """
    measured = [(first(), second()) for _ in range(pairs)]
    return Pairs(*(tuple(column) for column in zip(*measured, strict=True)))


# -- rows -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """A number of a table: printed in its form, kept as it is in JSON.

    Attributes:
        value: the number.
        form: as ``str.format`` takes it, with its unit.
    """

    value: float
    form: str

    def __str__(self) -> str:
        return self.form.format(self.value)


class Table:
    """A table in Markdown, printed row by row as the figures come in.

    Attributes:
        title: what it shows, for who reads the JSON; "" where there is one table.
        headings: one for each column.
        rows: the cells until now; a number stands as such, everything else as text.
    """

    def __init__(self, *headings: str, title: str = "") -> None:
        self.title, self.headings = title, headings
        self.rows: list[list[Any]] = []
        self._print(*headings)
        self._print(*["---"] * len(headings))

    def row(self, *cells: object) -> None:
        """Print one row, a cell for every heading."""
        if len(cells) != len(self.headings):
            raise ValueError(f"a row of this table has {len(self.headings)} cells, not {len(cells)}")
        self.rows.append([_plain(cell) for cell in cells])
        self._print(*map(str, cells))

    def _print(self, *cells: str) -> None:
        print(f"| {' | '.join(cells)} |", flush=True)


def _plain(cell: object) -> Any:
    if isinstance(cell, Figure):
        return cell.value if isinstance(cell.value, int) else float(cell.value)
    return cell if isinstance(cell, int | float | None) else str(cell)


class Report:
    """All that one benchmark prints.

    Attributes:
        tables: in the order in which they began.
        notes: the lines beside them.
    """

    def __init__(self, name: str, arguments: Sequence[str]) -> None:
        """
        Args:
            name: of the benchmark.
            arguments: of its command line.
        """
        self.tables: list[Table] = []
        self.notes: list[str] = []
        self._name, self._arguments, self._started = name, list(arguments), time.time()

    def table(self, *headings: str, title: str = "") -> Table:
        """Begin a table."""
        self.tables.append(Table(*headings, title=title))
        return self.tables[-1]

    def note(self, line: str) -> None:
        """Print a line, and keep it."""
        self.notes.append(line)
        print(line, flush=True)

    def document(self) -> dict[str, Any]:
        """All rows, and on which machine with which code they were measured."""
        return {
            "benchmark": self._name,
            "arguments": self._arguments,
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._started)),
            "seconds": round(time.time() - self._started, 1),
            "machine": {
                "system": platform.system(),
                "processor": CPU.model,
                "cores": cores(),
            },
            "versions": {"python": platform.python_version(), **versions()},
            "kernels": kernel_hash(),
            "tables": [
                {"title": table.title, "headings": list(table.headings), "rows": table.rows}
                for table in self.tables
            ],
            "notes": self.notes,
        }


def require_published(name: object, count: int, known: int | None) -> None:
    """End the benchmark when a count is wrong: its speed is worth nothing."""
    if known is not None and count != known:
        raise SystemExit(f"{name} gave {count}, published is {known}: wrong")


# -- the command line -----------------------------------------------------------------------


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """A command line with the options that all benchmarks have.

    Args:
        description: the docstring of the benchmark's module.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, seconds in all: try the program")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file too")
    return parser


def add_choice(parser: argparse.ArgumentParser, name: str, choices: Sequence[str]) -> None:
    """Let the command take any of these words as arguments; without a word it takes all of them."""

    def chosen(word: str) -> str:
        if word not in choices:
            raise argparse.ArgumentTypeError(f"{word!r} is none of {', '.join(choices)}")
        return word

    parser.add_argument(
        name, nargs="*", type=chosen, metavar=name.upper(), help=f"of {', '.join(choices)}; by default all"
    )


def run(parser: argparse.ArgumentParser, measure: Callable[[argparse.Namespace, Report], None]) -> None:
    """Run a benchmark from its command line, and write its JSON, even of one that ends early.

    Raises SystemExit with one line where something is wrong or missing.
    """
    options = parser.parse_args()
    report = Report(Path(sys.argv[0]).stem, sys.argv[1:])
    try:
        measure(options, report)
    except LangfordError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        raise SystemExit(NEEDS_MORE if isinstance(error, NoGpu) else 1) from error
    finally:
        if options.json:
            options.json.write_text(json.dumps(report.document(), indent=2, ensure_ascii=False) + "\n")


def required(module: str) -> Any:
    """An optional module; ends the benchmark where it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(module.split(".")[0], "test")
        print(f"this benchmark needs {error.name}: pip install 'langford[{extra}]'", file=sys.stderr)
        raise SystemExit(NEEDS_MORE) from error
