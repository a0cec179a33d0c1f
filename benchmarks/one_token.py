"""What one token can take of a task server: an honest worker's leases beside its requests, and equal shares.

    python benchmarks/one_token.py [--seconds N] [--rounds N] [--only WORDS] [--check]

A real server has a campaign of 36,168 tasks.  An honest worker at 127.0.0.2 leases a task and returns it, again and
again, first alone and then beside each attack: one token's requests, each repeated on all its connections as soon
as the last one is answered, from one address and from two.  Alone and beside follow each other in each round, so
that what else the machine does meets both.  The second table has 64 tokens that all ask as fast as they can.
With ``--check`` the exit code is 1 if the median lease beside any attack takes more than five times as long as
alone, or if the shares of the 64 tokens differ by more than a tenth of their mean.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from harness import Figure, Report, parser_of, run
from serving import processor_seconds_of, served
from strangers import LARGE, UNIQUE, Flood, Worker, bearer, get, under

from db import Ledger
from db.states import Role
from langford.methods import plan_of

TIMES, TOKENS = 5.0, 64
NAME = "bench"


def forged(number: int, provenance: str = "{}") -> str:
    """So many results of attempts that were never granted."""
    result: dict[str, object] = {"nonce": "x" * 22, "value": "0", "residue": "0", "evaluated": "0", "seconds": 0.0}
    result |= {"provenance": provenance, "began": None}
    rows = [{**result, "attempt": 10**9 + k, "index": k} for k in range(number)]
    return json.dumps({"deliveries": rows, "now": 0})


def attacks(token: str, campaign: str, worker: str) -> Iterator[tuple[Flood, int]]:
    """The requests of an attacker with a worker's token, and on how many connections it sends them."""

    def post(path: str, body: str, shown: str = token) -> bytes:
        return get(
            f"/campaigns/{NAME}/{path}", bearer(shown), "Content-Type: application/json", method="POST", body=body
        )

    asked = {"campaign": campaign, "worker": worker, "count": 1, "seconds": 60, "copies": 0}
    held = [10**9 + k for k in range(100_000)]
    unknown = dict.fromkeys(["cores", "processes", "device_model", "slurm_job", "slurm_index"])
    identity = {
        "worker": UNIQUE.decode(),
        "host": "h",
        "process": "1",
        "device_kind": "cpu",
        "kernels": "k",
        **unknown,
    }
    yield Flood("990 forged results, 0.2 MiB", post("results", forged(990))), 32
    yield Flood("1,000 forged results, 4 MiB", post("results", forged(1_000, "x" * 3_900))), 16
    yield Flood("100,000 held attempts", post("leases", json.dumps({**asked, "held": held}))), 32
    yield Flood("enrolments", post("workers", json.dumps(identity))), 64
    yield Flood("leases, each returned by the next", post("leases", json.dumps({**asked, "held": []}))), 64
    yield Flood("one forged result", post("results", forged(1))), 64
    yield Flood("wrong tokens", post("leases", "{}", "x" * 43)), 64


def beside(
    options: argparse.Namespace, report: Report, port: int, honest: Worker, chosen: list[tuple[Flood, int]]
) -> bool:
    """Print a row for each attack; returns whether all keep within the bar."""
    table = report.table("attack", "connections", "addresses", "lease, alone", "beside it", "times")
    well = True
    for flood, connections in chosen:
        for addresses in (1, 2):
            alone, meanwhile = list[float](), list[float]()
            for _ in range(options.rounds):
                alone += honest.leases(options.seconds)
                with ExitStack() as stack:
                    for place in range(addresses):
                        answered = multiprocessing.Value("Q", 0)
                        source = f"127.0.0.{3 + place}"
                        stack.enter_context(under(flood, port, connections, options.seconds, answered, source))
                    meanwhile += honest.leases(options.seconds)
            quiet, busy = statistics.median(alone), statistics.median(meanwhile)
            times = busy / quiet
            cells = f"{1000 * quiet:.0f} ms", f"{1000 * busy:.0f} ms", Figure(times, "{:.1f}")
            table.row(flood.name, connections, addresses, *cells)
            well = well and times <= TIMES
    return well


def shares(options: argparse.Namespace, report: Report, port: int, campaign: str, tokens: list[str]) -> bool:
    """Print how much each of many tokens got; returns whether all got about the same."""
    workers = [Worker(port, NAME, token, campaign) for token in tokens]
    got = dict.fromkeys(range(len(tokens)), 0)
    over = threading.Event()

    def ask(place: int) -> None:
        while not over.is_set():
            workers[place].lease()
            got[place] += 1

    threads = [threading.Thread(target=ask, args=(place,)) for place in got]
    for thread in threads:
        thread.start()
    time.sleep(options.seconds)  # all have begun
    before = dict(got)
    time.sleep(10 * options.seconds)
    numbers = [got[place] - before[place] for place in got]
    over.set()
    for thread in threads:
        thread.join()
    mean = statistics.mean(numbers)
    table = report.table("tokens", "leases of each", "least / mean", "most / mean")
    least, most = min(numbers) / mean, max(numbers) / mean
    table.row(len(tokens), f"{mean:.0f}", Figure(least, "{:.2f}"), Figure(most, "{:.2f}"))
    return least >= 0.9 and most <= 1.1


def main(options: argparse.Namespace, report: Report) -> None:
    """Print both tables."""
    if options.quick:
        options.rounds, options.seconds, options.only = 1, min(options.seconds, 0.3), options.only or "one forged"
    with tempfile.TemporaryDirectory(prefix="langford-one-token-") as folder:
        where = str(Path(folder) / "langford.db")
        with Ledger(where, create=True) as ledger:
            made = ledger.create_campaign(NAME, LARGE, plan_of(LARGE).work.tolist())
            liar, good, *tokens = [made.new_token(Role.WORKER) for _ in range(TOKENS + 2)]
            campaign = made.uuid
        with served(where, NAME) as (process, url):
            port = int(url.split(":")[2].split("/")[0])
            worker = Worker(port, NAME, liar, campaign)
            honest = Worker(port, NAME, good, campaign)
            chosen = [each for each in attacks(liar, campaign, worker.id) if options.only in each[0].name]
            before, began = processor_seconds_of([process]), time.monotonic()
            well = beside(options, report, port, honest, chosen)
            used = (processor_seconds_of([process]) - before) / (time.monotonic() - began)
            report.note(f"the server used {used:.0%} of a core meanwhile")
            well = shares(options, report, port, campaign, tokens) and well
    if options.check and not well:
        sys.exit(1)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="attacks whose names contain this")
    parser.add_argument("--check", action="store_true", help="exit 1 when the bar is exceeded")
    run(parser, main)
