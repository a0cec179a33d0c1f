"""What one token can take of a task server: an honest worker's leases beside its requests, and equal shares.

    python benchmarks/one_token.py [--seconds N] [--rounds N] [--only WORDS] [--check]

A real server has a campaign of 36,168 tasks.  An honest worker at 127.0.0.2 leases a task and returns it, again
and again, first alone and then beside each attack: requests with one token, or none, repeated on all connections,
each as soon as the last one is answered, from one address and from two.  Alone and beside follow each other in
each round, so that what else the machine does meets both.  A lease is measured twice: by the clock, and by the
processor time of the server while the worker waits, which other programs lengthen less.  Server and worker have a
higher priority, if this user may give it.  The last table has 64 tokens that all ask as fast as they can.
With ``--check`` the exit code is 1 if the median lease beside any attack takes more than five times that alone,
by both measures, or if the shares of the 64 tokens differ by more than a tenth of their mean.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from benchmarks.harness import Figure, Report, parser_of, run
from benchmarks.serving import served
from benchmarks.strangers import LARGE, PAUSE_SECONDS, UNIQUE, Flood, Worker, bearer, get, under
from db import Ledger
from db.states import Role
from langford.methods import plan_of

TIMES, TENTH, TOKENS = 5.0, 0.1, 64
IDLE_SECONDS, IDLE_SHARE = 0.2, 0.05
"""The server is idle if it uses less than this share of a core for so long."""
NAME, PRIORITY = "bench", -10


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
    first = {**asked, "worker": UNIQUE.decode(), "held": []}
    yield Flood("990 forged results, 0.2 MiB", post("results", forged(990))), 32
    yield Flood("1,000 forged results, 4 MiB", post("results", forged(1_000, "x" * 3_900))), 16
    yield Flood("100,000 held attempts", post("leases", json.dumps({**asked, "held": held}))), 32
    yield Flood("enrolments", post("workers", json.dumps({"worker": identity, "lease": first}))), 64
    yield Flood("leases, each returned by the next", post("leases", json.dumps({**asked, "held": []}))), 64
    yield Flood("one forged result", post("results", forged(1))), 64
    yield Flood("wrong tokens", post("leases", "{}", "x" * 43)), 64


def by_connections() -> Iterator[tuple[Flood, int]]:
    """What needs no token: how requests are sent."""
    form = get("/-/log-in", "Content-Type: application/x-www-form-urlencoded", method="POST")
    chunked = form.replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    yield Flood("half requests", b"GET / HTTP/1.1\r\nHost: x:1\r\nA: "), 800
    yield Flood("a byte a second", get("/"), drip=1.0), 800
    yield Flood("open connections", b""), 800
    yield Flood("endless headers", b"GET / HTTP/1.1\r\nHost: x:1\r\n", again=True, endless=b"a: b\r\n" * 5_000), 64
    yield Flood("a body in chunks of a byte", chunked, again=True, endless=b"1\r\nx\r\n" * 10_000), 64
    both = form.replace(b"Content-Length: 0", b"Content-Length: 5\r\nTransfer-Encoding: chunked")
    yield Flood("two lengths of a body", both + b"0\r\n\r\nGET / HTTP/1.1\r\n", again=True), 64


class Measured:
    """The leases of a worker, one after the other, and what the server did while it waited.

    Attributes:
        clock, processor: seconds of each lease, by the clock and of the server's processor.
    """

    def __init__(self) -> None:
        self.clock, self.processor = list[float](), list[float]()

    def add(self, worker: Worker, server: int, seconds: float) -> None:
        """Measure for some seconds, on a connection that is open."""
        worker.lease()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            marks = [processor_of(server)]
            self.clock.append(worker.lease(partial(self._mark, server, marks)))
            self.processor.append(marks[1] - marks[0])
            time.sleep(PAUSE_SECONDS)

    def _mark(self, server: int, marks: list[float]) -> None:
        marks.append(processor_of(server))

    @property
    def medians(self) -> tuple[float, float]:
        """By the clock and of the processor."""
        return statistics.median(self.clock), statistics.median(self.processor)


def processor_of(process: int) -> float:
    """Processor time of all threads of a process, in seconds, to a microsecond."""
    used = 0
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(OSError):  # it has ended
            used += int((thread / "schedstat").read_text().split()[0])
    return used / 1e9


def wait_until_idle(process: int) -> None:
    """Until the server has answered what an attack left."""
    for _ in range(20):
        before = processor_of(process)
        time.sleep(IDLE_SECONDS)
        if processor_of(process) - before < IDLE_SHARE * IDLE_SECONDS:
            return


def beside(
    options: argparse.Namespace,
    report: Report,
    server: int,
    port: int,
    honest: Worker,
    chosen: list[tuple[Flood, int]],
) -> bool:
    """Print a row for each attack; returns whether all keep within the bar."""
    table = report.table(
        *("attack", "connections", "addresses", "answered a second", "lease, alone", "beside it", "times"),
        *("processor, alone", "beside it", "times"),
    )
    well = True
    for flood, connections in chosen:
        for addresses in (1, 2):
            alone, meanwhile = Measured(), Measured()
            answers, lasted = 0, 0.0
            for _ in range(options.rounds):
                wait_until_idle(server)
                alone.add(honest, server, options.seconds)
                with ExitStack() as stack:
                    answered = multiprocessing.Value("Q", 0)
                    for place in range(addresses):
                        source = f"127.0.0.{3 + place}"
                        stack.enter_context(under(flood, port, connections, options.seconds, answered, source))
                    before, began = answered.value, time.monotonic()
                    meanwhile.add(honest, server, options.seconds)
                    answers, lasted = answers + answered.value - before, lasted + time.monotonic() - began
            pairs = list(zip(alone.medians, meanwhile.medians, strict=True))
            times = [busy / quiet for quiet, busy in pairs]
            cells = [
                cell
                for (quiet, busy), ratio in zip(pairs, times, strict=True)
                for cell in (f"{1000 * quiet:.1f} ms", f"{1000 * busy:.1f} ms", Figure(ratio, "{:.1f}"))
            ]
            table.row(flood.name, connections, addresses, f"{answers / lasted:,.0f}", *cells)
            well = well and min(times) <= TIMES
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
    time.sleep(2 * options.seconds)  # all have begun
    before = dict(got)
    time.sleep(32 * options.seconds)  # one lease more or less is little then
    numbers = [got[place] - before[place] for place in got]
    over.set()
    for thread in threads:
        thread.join()
    mean = statistics.mean(numbers)
    table = report.table("tokens", "leases of each", "least / mean", "most / mean")
    least, most = min(numbers) / mean, max(numbers) / mean
    table.row(len(tokens), f"{mean:.0f}", Figure(least, "{:.2f}"), Figure(most, "{:.2f}"))
    return least >= 1 - TENTH and most <= 1 + TENTH


def main(options: argparse.Namespace, report: Report) -> None:
    """Print both tables."""
    if options.quick:
        options.rounds, options.seconds, options.only = 1, min(options.seconds, 0.3), options.only or "one forged"
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
    with tempfile.TemporaryDirectory(prefix="langford-one-token-") as folder:
        where = str(Path(folder) / "langford.db")
        with Ledger(where, create=True) as ledger:
            made = ledger.create_campaign(NAME, LARGE, plan_of(LARGE).work.tolist())
            liar, good, *tokens = [made.operator.new_token(Role.WORKER) for _ in range(TOKENS + 2)]
            campaign = made.uuid
        with served(where, NAME) as (process, url):
            port = int(url.split(":")[2].split("/")[0])
            worker = Worker(port, NAME, liar, campaign)
            honest = Worker(port, NAME, good, campaign)
            every = [*attacks(liar, campaign, worker.id), *by_connections()]
            chosen = [each for each in every if options.only in each[0].name]
            before, began = processor_of(process.pid), time.monotonic()
            waits = beside(options, report, process.pid, port, honest, chosen)
            used = (processor_of(process.pid) - before) / (time.monotonic() - began)
            report.note(f"the server used {used:.0%} of a core meanwhile")
            wait_until_idle(process.pid)
            equal = shares(options, report, port, campaign, tokens)
    report.note(f"every lease within {TIMES:g} times: {'yes' if waits else 'NO'}")
    report.note(f"equal shares within {TENTH:.0%}: {'yes' if equal else 'NO'}")
    if options.check and not (waits and equal):
        sys.exit(1)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=0.6, help="of each measurement in each round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default="", help="attacks whose names contain this")
    parser.add_argument("--check", action="store_true", help="exit 1 when the bar is exceeded")
    run(parser, main)
