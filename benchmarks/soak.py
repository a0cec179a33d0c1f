"""A farm under thousands of faults, chosen by a seed: no result is lost, counted twice, or accepted though wrong.

    python benchmarks/soak.py --faults 10000 --seed 14
    python benchmarks/soak.py --quick                       a few faults, a round

Real servers and real workers, with a relay between them.  Messages are lost, duplicated, truncated, delayed,
altered and answered oddly.  Servers, workers and computing processes are killed, stopped and suspended.  Outbox
files are truncated and misplaced, and connections to Postgres break.  Campaigns are completed one after another,
with every result replicated, until the faults have happened; then every task must be done once, with its true
value.
With --liars, some of the workers deliver wrong results that pass every check.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from benchmarks.harness import Figure, Report, parser_of, run
from benchmarks.serving import empty_database, postgres_server
from benchmarks.soak_parts.round import KEY, QUICK_KEY, QUICK_WORKERS, WORKERS, Round
from db.schema.models import Attempt
from db.states import Outcome
from langford.methods import PlanKey, plan_of
from langford.problem.reference import published

FAULTS, QUICK_FAULTS = 10_000, 20


class Soak:
    """All rounds.

    Attributes:
        faults: what has happened, by its name.
        rounds, tasks: how many campaigns were completed, and their tasks.
        lost: tasks without a result.
        doubled: results beyond one per task.
        wrong: accepted results, and counts, of another value.
        ended: workers that ended as none should.
    """

    def __init__(
        self, folder: Path, key: PlanKey, seed: int, workers: int, liars: int, postgres: Any = None
    ) -> None:
        """
        Args:
            folder: for all that the rounds write.
            key: of the plan of each campaign.
            seed: of what happens.
            workers, liars: honest ones and those that lie, in each round.
            postgres: the server that the first, third, … ledger is on; None: all are files.
        """
        self.faults = Counter[str]()
        self.lost = self.doubled = self.wrong = self.rounds = self.tasks = 0
        self.ended: list[str] = []
        self._folder, self._workers, self._chance = folder, (workers, liars), random.Random(seed)
        self._key, plan = key, plan_of(key)
        self._truth = {task: plan.evaluate(task).value for task in plan.tasks}
        self._postgres = postgres

    def run(self, faults: int, seconds: float) -> None:
        """Rounds until this number of faults has happened, or this time is over."""
        until = time.monotonic() + seconds
        while self.faults.total() < faults and time.monotonic() < until:
            where = self._empty_database()
            one = Round(self._folder, self.rounds, self._key, where, *self._workers, self._chance)
            try:
                one.complete(faults - self.faults.total(), until)
                self._audit(one)
            finally:
                one.stop()
                self.faults += one.faults
                self.ended += one.ended
            self.rounds += 1
            self.tasks += len(self._truth)
            print(f"round {self.rounds}: {self.faults.total():,} faults", file=sys.stderr, flush=True)

    def _empty_database(self) -> str:
        name = f"soak_{self.rounds}"
        if self._postgres is None or self.rounds % 2:
            return str(self._folder / f"{name}.db")
        return empty_database(self._postgres, name)

    def _audit(self, one: Round) -> None:
        """Count what is lost, doubled and wrong."""
        with one.campaign.reader.reading_tasks() as read:
            accepted = {record.index: record.value for record in read}
        self.lost += sum(accepted.get(task) is None for task in self._truth)
        self.wrong += sum(accepted.get(task) not in (None, str(value)) for task, value in self._truth.items())
        with one.ledger.database.reading() as connection:
            first = select(Attempt.task_index, func.count()).where(Attempt.outcome == Outcome.DONE)
            rows = connection.execute(first.group_by(Attempt.task_index)).all()
        self.doubled += sum(number - 1 for _, number in rows)
        if not self.lost and one.campaign.reader.merged().published != published(self._key.problem):
            self.wrong += 1


def main(options: argparse.Namespace, report: Report) -> None:
    """Print what has happened, and what came of it; ends with exit code 1 where a result was lost or wrong."""
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM")
    )  # it shows what had happened, as Ctrl-C does
    folder = Path(tempfile.mkdtemp(prefix="langford-soak-"))
    faults = options.faults or (QUICK_FAULTS if options.quick else FAULTS)
    start = time.monotonic()
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server()) if options.postgres else None
        key, workers = (QUICK_KEY, QUICK_WORKERS) if options.quick else (KEY, WORKERS)
        soak = Soak(folder, key, options.seed, workers, options.liars, server)
        try:
            soak.run(faults, options.seconds)
        finally:  # also when it gives up: what had happened until then
            show(soak, report, start)
    for worker in soak.ended:
        report.note(worker)
    if soak.lost or soak.doubled or soak.wrong or soak.ended:
        sys.exit(f"seed {options.seed}, see {folder}")


def show(soak: Soak, report: Report, start: float) -> None:
    """Print the faults, and what became of the results; ``start``: by the monotonic clock."""
    table = report.table("fault", "times")
    for name, times in sorted(soak.faults.items()):
        table.row(name, Figure(times, "{:,}"))
    minutes = (time.monotonic() - start) / 60
    total = f"{soak.faults.total():,} faults"
    print()
    report.note(f"{total} in {soak.rounds} campaigns of {soak.tasks:,} tasks in all, {minutes:.1f} minutes")
    report.note(
        f"{soak.lost} lost, {soak.doubled} doubled, {soak.wrong} wrong accepted, {len(soak.ended)} workers ended"
    )


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--faults", type=int, help=f"by default {FAULTS:,}")
    parser.add_argument("--seconds", type=float, default=86_400.0, help="no faults after that")
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--liars", type=int, default=0, help="workers that lie")
    parser.add_argument("--postgres", action="store_true", help="the first, third, … ledger on Postgres")
    run(parser, main)
