"""What open dashboards cost a task server: its processor time, and what workers wait for their leases.

The campaign is that of :mod:`running_campaign`, 1,000,000 tasks on SQLite, half of them done by 2,200 workers; 200
more are simulated: each leases two tasks, gives them back, and asks again after some seconds, 12 claims a second
together.  Rounds with 20 pages that ask for the status every two seconds and without any alternate, since
much else may run on the machine; processor times are those of the server, claims are timed by the workers.
"""

from __future__ import annotations

import multiprocessing
import random
import statistics
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
from harness import Figure, Report, Table
from ledger_parts.running_campaign import FULL, QUICK, filled
from serving import processor_seconds_of, served

from db import Ledger
from db.identity import Identity
from db.states import Outcome, Role
from jobs.reach.remote import RemoteServer
from jobs.reach.requests import ServerAway

DASHBOARDS = 20
EVERY_SECONDS = 2.0


@dataclass(frozen=True)
class Load:
    """What the server has to do.

    Attributes:
        workers: simulated ones.
        claims_per_second: of all of them together.
        start_seconds: in which they connect.
        settle_seconds: before each round.
        rounds: with dashboards, and as many without.
        round_seconds: of each.
    """

    workers: int = 200
    claims_per_second: float = 12.0
    start_seconds: float = 15.0
    settle_seconds: float = 3.0
    rounds: int = 6
    round_seconds: float = 30.0


QUICK_LOAD = Load(workers=20, start_seconds=1.0, settle_seconds=1.0, rounds=2, round_seconds=4.0)


def work(url: str, campaign: str, tokens: list[str], load: Load, out: Any) -> None:
    """Simulated workers, each in a thread; the seconds of every claim, and of giving it back, go to ``out``."""
    for token in tokens:
        threading.Thread(target=claim_for_ever, args=(url, campaign, token, load, out), daemon=True).start()
    threading.Event().wait()


def claim_for_ever(url: str, campaign: str, token: str, load: Load, out: Any) -> None:
    """Lease two tasks and give them back, again and again."""
    time.sleep(random.uniform(0, load.start_seconds))  # an address may not open all its connections at once
    server, me = RemoteServer(url, token).campaign(), Identity.fresh()
    server.uuid = campaign
    server.enrol(me)
    while True:
        time.sleep(random.uniform(0, 2 * load.workers / load.claims_per_second))
        start = time.perf_counter()
        with suppress(ServerAway):  # timed all the same
            server.release(server.lease(me.worker_id, 2, 600, []), Outcome.RELEASED, "")
        out.put(time.perf_counter() - start)


def watch(url: str, token: str, out: Any) -> None:
    """Many dashboards, until this process is ended; the bytes of each status that arrives go to ``out``."""
    shown = {"Authorization": f"Bearer {token}"}
    pages = [httpx.Client(headers=shown) for _ in range(DASHBOARDS)]
    while True:
        start = time.monotonic()
        for page in pages:
            out.put(len(page.get(url).raise_for_status().content))
        time.sleep(max(0.0, EVERY_SECONDS - (time.monotonic() - start)))


def drained(queue: Any) -> list[Any]:
    """All that is in a queue now."""
    entries = []
    while not queue.empty():
        entries.append(queue.get())
    return entries


def p99(seconds: list[float]) -> float:
    """Milliseconds that a claim in a hundred exceeds."""
    return 1000 * statistics.quantiles(seconds, n=100)[98]


def measure(report: Report, folder: Path, quick: bool) -> None:
    """Print what a server does with dashboards and without."""
    size, load = (QUICK, QUICK_LOAD) if quick else (FULL, Load())
    where = filled(str(folder / "dashboards.db"), size, size.tasks // 2, 0, size.gone)
    with Ledger(where) as ledger:
        campaign = ledger.campaign("bench")
        tokens = [campaign.new_token(Role.WORKER) for _ in range(load.workers)]
        reader = campaign.new_token(Role.READER)
    context = multiprocessing.get_context("spawn")
    claims = context.Queue()
    with served(where, "bench") as (server, url):
        workers = context.Process(target=work, args=(url, campaign.uuid, tokens, load, claims), daemon=True)
        workers.start()
        try:
            time.sleep(2 * load.start_seconds)
            seen = rounds(server, url, reader, load, claims)
        finally:
            workers.terminate()
    show(report.table("what", "figure", title="dashboards"), seen, load)


@dataclass
class Seen:
    """What the rounds have shown; by whether dashboards were open where there are two.

    Attributes:
        waited: seconds of each claim.
        shares: of a core that the server used, for each round.
        sizes: bytes of each status that a dashboard has received.
    """

    waited: dict[bool, list[float]]
    shares: dict[bool, list[float]]
    sizes: list[int] = field(default_factory=list)


def rounds(server: psutil.Process, url: str, reader: str, load: Load, claims: Any) -> Seen:
    """Measure the server with dashboards and without, in turn."""
    seen = Seen({True: [], False: []}, {True: [], False: []})
    context = multiprocessing.get_context("spawn")
    received = context.Queue()
    for number in range(2 * load.rounds):
        watched = number % 4 in (1, 2)
        listeners = context.Process(
            target=watch, args=(url.replace("/bench", "/campaigns/bench/status"), reader, received), daemon=True
        )
        if watched:
            listeners.start()
        time.sleep(load.settle_seconds)
        drained(claims), drained(received)
        before, start = processor_seconds_of([server]), time.monotonic()
        time.sleep(load.round_seconds)
        after, end = processor_seconds_of([server]), time.monotonic()
        seen.shares[watched].append((after - before) / (end - start))
        seen.waited[watched] += drained(claims)
        if watched:
            seen.sizes += drained(received)
            listeners.terminate()
            listeners.join()
    return seen


def show(table: Table, seen: Seen, load: Load) -> None:
    """Print the table."""
    waited, medians = seen.waited, {watched: statistics.median(seen.shares[watched]) for watched in (True, False)}
    every = load.rounds * load.round_seconds * DASHBOARDS / max(1, len(seen.sizes))
    table.row("claims timed without dashboards, with them", f"{len(waited[False]):,}, {len(waited[True]):,}")
    table.row(f"a status comes every, to each of {DASHBOARDS}", Figure(every, "{:.1f} s"))
    table.row("bytes of a status", Figure(statistics.mean(seen.sizes or [0]), "{:,.0f}"))
    for watched, name in ((False, "without dashboards"), (True, f"with {DASHBOARDS} dashboards")):
        table.row(f"processor time of the server, {name}", Figure(medians[watched], "{:.1%} of a core"))
        claim = f"{1000 * statistics.median(waited[watched]):.1f} ms, p99 {p99(waited[watched]):.1f} ms"
        table.row(f"a claim, {name}", claim)
    table.row("the pages alone", Figure(medians[True] - medians[False], "{:.1%} of a core"))
    table.row("p99 of a claim, with and without", Figure(p99(waited[True]) / p99(waited[False]), "{:.2f}"))
