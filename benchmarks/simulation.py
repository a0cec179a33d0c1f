"""A campaign of three weeks in minutes: the real ledger under a simulated clock, cluster and preemptions.

    python benchmarks/simulation.py                230 and 23,232 nodes, about twelve minutes
    python benchmarks/simulation.py 230            one of them
    python benchmarks/simulation.py --quick        400 tasks on 20 nodes

The campaign is that of J. Loiseau's thesis for L(2,28): 131,072 tasks of 1,321 s on average, deviation 12%, on 99
of 230 nodes on average, 2% of the tasks preempted.  A node becomes free for best-effort work and is taken back at
random (exponential times).  Nine of ten workers return their lease (SIGTERM); the others vanish, and their leases
expire.  Every lease, release, expiry and result is the ledger's own transaction.  At the end, workers that find no
open task get copies of the tasks that others hold longest.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import math
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event, func, select
from sqlalchemy.ext.compiler import compiles

from benchmarks.harness import Figure, Report, parser_of, run, timed
from db import Delivery, Lease, Ledger
from db.schema.dialects import Now
from db.schema.models import Attempt
from db.states import EventKind, Outcome
from db.trust.enrolment import insert_worker
from langford.methods import PlanKey
from langford.problem import Problem
from langford.result import Evaluation, Expectation, PartialResult

TASKS, QUICK_TASKS = 131_072, 400
NODES, QUICK_NODES = (230, 23_232), (20,)
MEAN_SECONDS, DEVIATION = 1321.0, 0.12
FREE_SHARE = 99 / 230
PREEMPTED_SHARE = 0.02
MANNERED_SHARE = 0.9
LEASE_SECONDS = 1800.0
START_SECONDS = 5.0
ASK_AGAIN_SECONDS = 60.0
DAY = 86_400.0


@compiles(Now, "sqlite")
def _simulated(element: Any, compiler: Any, **options: Any) -> str:
    return "simulated_clock()"


class AnyPlan:
    """Takes the sum 0 for every task."""

    def expectation(self, index: int) -> Expectation:
        return Expectation(0, 0, 0)


@dataclass
class Node:
    """A node of the cluster; ``lease`` is what its worker does, ``since`` a time."""

    worker: str | None = None
    lease: Lease | None = None
    since: float = 0.0
    life: int = 0


class Simulation:
    """Nodes that come and go, and a campaign that they complete."""

    def __init__(self, folder: Path, tasks: int, nodes: int, seed: int) -> None:
        self.now = 0.0
        self.chance = random.Random(seed)
        spread = math.sqrt(math.log(1 + DEVIATION**2))
        mean = math.log(MEAN_SECONDS) - spread**2 / 2
        self.seconds = [self.chance.lognormvariate(mean, spread) for _ in range(tasks)]
        event.listen(Engine, "connect", self._give_clock)  # a ledger asks for the time when it is made
        self.ledger = Ledger(str(folder / f"{nodes}.db"), create=True)
        key = PlanKey(Problem.langford(28), "godfrey", 17)
        self.campaign = self.ledger.create_campaign("simulated", key, self.seconds)
        self.campaign.plan = AnyPlan()  # type: ignore[assignment]
        self.nodes = [Node() for _ in range(nodes)]
        self.events: list[tuple[float, int, str, int, int]] = []
        self.order = itertools.count()
        self.done = 0
        self.useful = self.lost = self.confirming = self.offered = 0.0
        self.free_since: dict[int, float] = {}

    def attempts(self) -> dict[str, int]:
        """How many there were, by outcome."""
        with self.campaign.reading() as transaction:
            rows = transaction.execute(select(Attempt.outcome, func.count()).group_by(Attempt.outcome)).all()
        return {str(outcome): number for outcome, number in rows}

    def _give_clock(self, connection: Any, record: Any) -> None:
        connection.create_function("simulated_clock", 0, lambda: self.now)

    def close(self) -> None:
        """Close the ledger; other ledgers of this process get no clock of this simulation any more."""
        self.ledger.close()
        event.remove(Engine, "connect", self._give_clock)

    def at(self, delay: float, what: str, node: int) -> None:
        heapq.heappush(self.events, (self.now + delay, next(self.order), what, node, self.nodes[node].life))

    def run(self) -> None:
        free = MEAN_SECONDS / PREEMPTED_SHARE
        busy = free * (1 - FREE_SHARE) / FREE_SHARE
        for node in range(len(self.nodes)):
            # The long-run state: free with this probability, for a time that has no memory.
            delay = 0.0 if self.chance.random() < FREE_SHARE else self.chance.expovariate(1 / busy)
            self.at(delay, "free", node)
        renewal = LEASE_SECONDS / 4
        while self.done < len(self.seconds):
            moment, _, what, node, life = heapq.heappop(self.events)
            while renewal < moment:
                self.now = renewal
                self.campaign.worker.renew([node.lease for node in self.nodes if node.lease], LEASE_SECONDS)
                renewal += LEASE_SECONDS / 4
            self.now = moment
            if life != self.nodes[node].life:
                continue  # meant for a worker that is gone
            if what == "free":
                self.free_since[node] = self.now
                self.nodes[node].worker = f"{node}-{life}"
                with self.ledger.database.writing() as connection:
                    insert_worker(connection, f"{node}-{life}", f"n{node}", "1")
                self.at(START_SECONDS, "ask", node)
                self.at(self.chance.expovariate(1 / free), "preempt", node)
            elif what == "ask":
                self.ask(node)
            elif what == "finish":
                self.finish(node)
            else:
                self.preempt(node)
                self.at(self.chance.expovariate(1 / busy), "free", node)
        self.offered += sum(self.now - since for since in self.free_since.values())

    def ask(self, node: int) -> None:
        worker = self.nodes[node].worker
        assert worker is not None
        leases = self.campaign.worker.lease(worker, 1, LEASE_SECONDS, [], copies=1)
        if not leases:
            self.at(ASK_AGAIN_SECONDS, "ask", node)
            return
        self.nodes[node].lease, self.nodes[node].since = leases[0], self.now
        self.at(self.seconds[leases[0].index], "finish", node)

    def finish(self, node: int) -> None:
        lease, since = self.nodes[node].lease, self.nodes[node].since
        assert lease is not None
        evaluation = Evaluation(PartialResult(lease.index, 0, 0, 0), self.now - since, "{}")
        [receipt] = self.campaign.worker.deliver([Delivery.of(lease, evaluation)])
        if receipt.event is None:
            self.useful += self.now - since
            self.done += 1
        else:
            assert receipt.event is EventKind.CONFIRMED, receipt
            self.confirming += self.now - since
        self.nodes[node].lease = None
        self.at(0.0, "ask", node)

    def preempt(self, node: int) -> None:
        it = self.nodes[node]
        if it.lease is not None:
            self.lost += self.now - it.since
            if self.chance.random() < MANNERED_SHARE:
                self.campaign.worker.end([it.lease], Outcome.PREEMPTED, "SIGTERM")
        self.offered += self.now - self.free_since.pop(node)
        it.worker = it.lease = None
        it.life += 1


def main(options: argparse.Namespace, report: Report) -> None:
    """Print a row for each number of nodes."""
    table = report.table(
        "nodes", "workers on average", "makespan", "ideal", "preempted", "expired", "work lost", "work done twice",
        "ledger, real time",
    )  # fmt: skip
    tasks = QUICK_TASKS if options.quick else TASKS
    with tempfile.TemporaryDirectory(prefix="langford-simulation-") as folder:
        for number in options.nodes or (QUICK_NODES if options.quick else NODES):
            it = Simulation(Path(folder), tasks, number, seed=28)
            real = timed(1, it.run).median
            attempts = it.attempts()
            assert attempts["done"] == tasks
            workers = it.offered / it.now
            table.row(
                f"{number:,}",
                Figure(workers, "{:,.0f}"),
                Figure(it.now / DAY, "{:.3f} days"),
                Figure(it.useful / workers / DAY, "{:.3f} days"),
                Figure(attempts.get("preempted", 0), "{:,}"),
                Figure(attempts.get("expired", 0), "{:,}"),
                Figure(it.lost / it.useful, "{:.2%}"),
                Figure(it.confirming / it.useful, "{:.2%}"),
                f"{real:.0f} s, {sum(attempts.values()) / real:,.0f} attempts/s",
            )
            it.close()


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("nodes", type=int, nargs="*", help=f"by default {' and '.join(map(str, NODES))}")
    run(parser, main)
