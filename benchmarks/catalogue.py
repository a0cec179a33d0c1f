"""All benchmarks: a new one adds its line here."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Benchmark:
    """One script of this folder.

    Attributes:
        name: of its module.
        minutes: that it takes at its full size on two cores or one GPU, about.
        needs: beyond one core: a GPU, Postgres, MPI; "" for nothing.
    """

    name: str
    minutes: float
    needs: str = ""

    @property
    def script(self) -> Path:
        """Its file."""
        return FOLDER / f"{self.name}.py"

    @property
    def measures(self) -> str:
        """What it measures: the first line of its docstring."""
        return (ast.get_docstring(ast.parse(self.script.read_text())) or "").partition("\n")[0]


BENCHMARKS = (
    Benchmark("methods", 5),
    Benchmark("shifted", 20),
    Benchmark("shifted_points", 2),
    Benchmark("necklace", 1),
    Benchmark("sums_gpu", 8, "GPU"),
    Benchmark("backtracking", 15, "GPU"),
    Benchmark("search_order", 1),
    Benchmark("records", 0),
    Benchmark("irregular", 25, "GPU with --device cuda"),
    Benchmark("irregular_ranks", 15, "MPI; GPUs with --device cuda"),
    Benchmark("farm", 10, "Postgres"),
    Benchmark("large_ledger", 20, "Postgres"),
    Benchmark("strangers", 15),
    Benchmark("one_token", 5),
    Benchmark("serving", 20),
    Benchmark("simulation", 12),
    Benchmark("replication", 10),
    Benchmark("soak", 20, "Postgres with --postgres"),
    Benchmark("event_graphs", 3, "GPU for streams"),
)
