"""What the farm costs: campaigns created, tasks claimed and completed, a server, a pool of processes.

    python benchmarks/farm.py                     all parts, about ten minutes
    python benchmarks/farm.py creation            campaigns created
    python benchmarks/farm.py claims              tasks claimed and completed, directly and through the server
    python benchmarks/farm.py server              a server of 524,800 tasks
    python benchmarks/farm.py overhead            a farm of tasks of a second, beside the same without a farm
    python benchmarks/farm.py pool                worker processes before their first task
    python benchmarks/farm.py cost --against DIR  processor time a task, beside the checkout DIR of another version

Sixteen processes claim tasks in batches and deliver results at once, without computing anything: the sum 0
passes the checks of a task.  "p99 claim" is the time of a whole batch, with all processes always asking; then
with pauses.  The overhead is that of L(2,20) in tasks of about a second, on two workers of a server,
beside two processes that share a counter: at the same time, on the other half of the cores, and the other way
round in the next pair.  The pool's workers evaluate one task each, of a hundredth of a second.  The cost of a task
is measured in ten short rounds, in which the two versions take turns.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks.farm_parts import campaigns, claims, cost, overhead, pool
from benchmarks.harness import Report, add_choice, parser_of, run
from benchmarks.serving import postgres_server

PARTS = ("creation", "claims", "server", "overhead", "pool")


def main(options: argparse.Namespace, report: Report) -> None:
    """Print one table of the farm, and one of the pool."""
    parts = options.part or (PARTS if options.against is None else ("cost",))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="langford-farm-")))
        postgres = None
        if "creation" in parts or "claims" in parts:
            postgres = stack.enter_context(postgres_server())
        if "cost" in parts:
            if options.against is None:
                raise SystemExit("name the checkout of another version: --against DIR")
            if "postgres" in options.kinds and postgres is None:
                postgres = stack.enter_context(postgres_server())
            cost.measure(report, folder, postgres, options.against.absolute(), options.kinds, options.quick)
        if set(parts) - {"pool", "cost"}:
            table = report.table("what", "figure")
        if "creation" in parts:
            campaigns.measure_creation(table, folder, postgres, options.quick)
        if "claims" in parts:
            claims.measure(table, folder, postgres, options.quick)
        if "server" in parts:
            campaigns.measure_server(table, folder, options.quick)
        if "overhead" in parts:
            overhead.measure(table, folder, options.quick)
    if "pool" in parts:
        print()
        pool.measure(report, options.quick)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    add_choice(parser, "part", (*PARTS, "cost"))
    parser.add_argument("--against", type=Path, help="the checkout of another version, for the part cost")
    parser.add_argument(
        "--kinds", nargs="+", default=list(cost.PARTS), choices=list(cost.PARTS), help="in the part cost"
    )
    run(parser, main)
