"""What a task costs this version and an earlier one: processor time, in short alternating rounds."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from benchmarks.harness import Pairs, Report
from benchmarks.serving import empty_database

HERE = Path(__file__).parents[2]
SIDE = Path(__file__).with_name("one_side.py")
ROUNDS, QUICK_ROUNDS = 10, 1
CASES = (
    ("sqlite", 32, 2_000),
    ("sqlite", 1, 300),
    ("postgres", 32, 2_000),
    ("postgres", 1, 300),
    ("server", 32, 1_600),
    ("server", 1, 200),
)
"""(how the ledger is reached, tasks a claim, tasks of a round)."""
PARTS = {
    "sqlite": (("own", "worker"),),
    "postgres": (("own", "worker"), ("other", "Postgres")),
    "server": (("own", "worker"), ("other", "server")),
}


def side(checkout: Path, kind: str, where: str, batch: int, tasks: int) -> dict[str, float]:
    """The figures of one round of one version."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    command = [sys.executable, str(SIDE), kind, where, str(batch), str(tasks)]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    if done.returncode or not done.stdout:
        raise SystemExit(f"{checkout} failed: {done.stderr}")
    return dict(json.loads(done.stdout))


def measure(report: Report, folder: Path, postgres: Any, against: Path, kinds: list[str], quick: bool) -> None:
    """Print a row for each case and process: µs a task before and now, the ratio and its spread, and statements."""
    table = report.table(
        "what", f"µs a task, {against.name}", "now", "ratio", "lowest–highest", "statements a task"
    )
    rounds = QUICK_ROUNDS if quick else ROUNDS
    for kind, batch, tasks in CASES:
        if kind not in kinds:
            continue

        def place(kind: str = kind) -> str:
            name = uuid.uuid4().hex
            return empty_database(postgres, f"cost_{name}") if kind == "postgres" else str(folder / f"{name}.db")

        sides: tuple[list[dict[str, float]], list[dict[str, float]]] = ([], [])
        for _ in range(rounds):
            for checkout, figures in zip((against, HERE), sides, strict=True):
                figures.append(side(checkout, kind, place(), batch, tasks))
        for part, name in PARTS[kind]:
            before, now = (tuple(figures[part] for figures in each) for each in sides)
            pairs = Pairs(before, now)
            medians = [1e6 * median for median in pairs.medians]
            sent = [statistics.median(figures["statements"] for figures in each) for each in sides]
            counted = f"{sent[0]:.2f} → {sent[1]:.2f}" if part == "own" and kind != "server" else ""
            what = f"{kind}, {batch} a claim: {name}"
            table.row(what, f"{medians[0]:.0f}", f"{medians[1]:.0f}", f"{pairs.ratio:.2f}", pairs.spread, counted)
