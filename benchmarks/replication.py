"""How much of a lying host's results is found, for each replicated share: measured, and in theory.

    python benchmarks/replication.py                             about ten minutes
    python benchmarks/replication.py docs/replication.svg        and the picture
    python benchmarks/replication.py --quick                     few campaigns of few shares

A host lies about some results of a campaign in a real ledger; then two honest hosts do all tasks that they get.  If
a lie is drawn, the host is no longer trusted, and all of its results are evaluated again: all of its lies are found
as soon as one of them is drawn.  In theory that happens with probability 1 - (1 - s)^k for k lies and the share s.
"""

from __future__ import annotations

import argparse
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.harness import Report, parser_of, required, run
from db import Campaign, Delivery, Ledger
from db.trust.enrolment import insert_worker
from langford.arithmetic.residue import residue
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from langford.result import Evaluation, PartialResult

KEY = PlanKey(Problem.langford(12), "polyphase", 22)
SHARES, QUICK_SHARES = (0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0), (0.05, 1.0)
LIES = (1, 10, 100)
REPETITIONS, QUICK_REPETITIONS = {1: 400, 10: 150, 100: 40}, {1: 4, 10: 2, 100: 1}


def deliver(campaign: Campaign, worker: str, lies: bool) -> None:
    """Do all that a worker gets: the true result of each task is 0 here."""
    plan = plan_of(KEY)
    while leases := campaign.worker.lease(worker, 1000, 600):
        deliveries = []
        for lease in leases:
            value = 1 << plan.expectation(lease.index).zero_bits if lies else 0
            result = PartialResult(lease.index, value, residue(value), 1)
            deliveries.append(Delivery.of(lease, Evaluation(result, 0.0, "{}")))
        campaign.worker.deliver(deliveries)


def enrolled(ledger: Ledger, host: str) -> str:
    worker = str(uuid.uuid4())
    with ledger.database.writing() as connection:
        insert_worker(connection, worker, host, "1")
    return worker


def found(ledger: Ledger, share: float, lies: int) -> float:
    """The share of a liar's results that is found in one campaign."""
    campaign = ledger.create_campaign(uuid.uuid4().hex, KEY, [1.0] * lies)
    campaign.plan = plan_of(KEY)  # of which these are the first tasks
    campaign.operator.raise_share(share)
    deliver(campaign, enrolled(ledger, f"liar-{uuid.uuid4()}"), lies=True)
    for honest in ("honest-1", "honest-2", "honest-1"):
        deliver(campaign, enrolled(ledger, honest), lies=False)
    return sum(result.value == 0 for result in campaign.reader.results()) / lies


def theory(share: float, lies: int) -> float:
    """What :func:`found` is on average."""
    return 1 - (1 - share) ** lies


def measured(folder: Path, share: float, lies: int, repetitions: int) -> float:
    """The average of some campaigns, in a ledger of their own."""
    with Ledger(str(folder / f"{uuid.uuid4().hex}.db"), create=True) as ledger:
        return fmean(found(ledger, share, lies) for _ in range(repetitions))


def draw(file: Path, shares: Sequence[float], figures: dict[int, list[float]]) -> None:
    """The measured points, and the theory as lines."""
    figure = required("matplotlib.figure").Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot(xscale="log", xlabel="share that is replicated", ylabel="share of its results found")
    fine = [10 ** (-3 + 3 * k / 100) for k in range(101)]
    for lies, values in figures.items():
        [line] = axes.plot(fine, [theory(share, lies) for share in fine], label=f"{lies} lies: 1 − (1 − s)^k")
        axes.plot(shares, values, "o", color=line.get_color(), label=f"{lies} lies, measured")
    axes.set_title("What a liar gets away with")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    figure.savefig(file, metadata={"Date": None})


def main(options: argparse.Namespace, report: Report) -> None:
    """Print a row for each share, and draw the picture where a file is named."""
    shares, repetitions = (QUICK_SHARES, QUICK_REPETITIONS) if options.quick else (SHARES, REPETITIONS)
    table = report.table("share", *(f"{lies} lies: found (theory)" for lies in LIES))
    figures: dict[int, list[float]] = {lies: [] for lies in LIES}
    with tempfile.TemporaryDirectory(prefix="langford-replication-") as name:
        folder = Path(name)
        for share in shares:
            cells = []
            for lies in LIES:
                figures[lies].append(measured(folder, share, lies, repetitions[lies]))
                cells.append(f"{figures[lies][-1]:.3f} ({theory(share, lies):.3f})")
            table.row(f"{share:g}", *cells)
    if options.figure:
        draw(options.figure, shares, figures)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("figure", type=Path, nargs="?", metavar="SVG", help="where the picture goes")
    run(parser, main)
