"""What open dashboards cost a task server: its processor time, and what workers wait for their leases.

    python benchmarks/dashboards.py

The campaign is that of overview.py, 1,000,000 tasks on SQLite, half of them done by 2,200 workers; 200 more are
simulated: each leases two tasks, gives them back, and asks again after some seconds, 12 claims a second
together.  Rounds with 20 listeners of the stream and without any alternate, since much else may run on the
machine; processor times are those of the server, claims are timed by the workers.
"""

from __future__ import annotations

import multiprocessing
import random
import selectors
import socket
import statistics
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from farm import served
from harness import Table
from overview import TASKS, filled

from db import Ledger
from db.states import Outcome, Role
from jobs.farm.client import RemoteCampaign
from jobs.farm.requests import ServerAway
from jobs.identity import Identity

DASHBOARDS, WORKERS, CLAIMS_PER_SECOND = 20, 200, 12.0
START_SECONDS, SETTLE_SECONDS = 15.0, 3.0
ROUNDS, ROUND_SECONDS = 6, 30.0


def work(url: str, campaign: str, tokens: list[str], out: Any) -> None:
    """Simulated workers, each in a thread; the seconds of every claim, and of giving it back, go to ``out``."""
    for token in tokens:
        threading.Thread(target=claim_for_ever, args=(url, campaign, token, out), daemon=True).start()
    threading.Event().wait()


def claim_for_ever(url: str, campaign: str, token: str, out: Any) -> None:
    time.sleep(random.uniform(0, START_SECONDS))  # an address may not open all its connections at once
    server, me = RemoteCampaign(url, token), Identity.fresh()
    server.uuid = campaign
    server.enrol(me)
    while True:
        time.sleep(random.uniform(0, 2 * WORKERS / CLAIMS_PER_SECOND))
        start = time.perf_counter()
        with suppress(ServerAway):  # timed all the same
            server.release(server.lease(me.worker_id, 2, 600, []), Outcome.RELEASED, "")
        out.put(time.perf_counter() - start)


def listen(port: int, name: str, token: str, out: Any) -> None:
    """Many dashboards, until this process is ended; (bytes, statuses) of what arrives go to ``out``."""
    request = f"GET /campaigns/{name}/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
    ready = selectors.DefaultSelector()
    for _ in range(DASHBOARDS):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(request.encode())
        ready.register(connection, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            received = key.fileobj.recv(1 << 20)  # type: ignore[union-attr]
            if not received:
                sys.exit("the server has ended a stream")
            out.put((len(received), received.count(b"data: {")))


def drained(queue: Any) -> list[Any]:
    entries = []
    while not queue.empty():
        entries.append(queue.get())
    return entries


def p99(seconds: list[float]) -> float:
    return 1000 * statistics.quantiles(seconds, n=100)[98]


def measure(where: str, table: Table) -> None:
    with Ledger(where) as ledger:
        campaign = ledger.campaign("bench")
        tokens = [campaign.new_token(Role.WORKER) for _ in range(WORKERS)]
        reader = campaign.new_token(Role.READER)
    server, url = served(where, "bench")
    port = int(url.split(":")[2].split("/")[0])
    context = multiprocessing.get_context("spawn")
    claims, bytes_read = context.Queue(), context.Queue()
    workers = context.Process(target=work, args=(url, campaign.uuid, tokens, claims), daemon=True)
    workers.start()
    process = psutil.Process(server.pid)
    waited: dict[bool, list[float]] = {True: [], False: []}
    shares: dict[bool, list[float]] = {True: [], False: []}
    events = volume = 0
    try:
        time.sleep(2 * START_SECONDS)
        for number in range(2 * ROUNDS):
            watched = number % 4 in (1, 2)
            listeners = context.Process(target=listen, args=(port, "bench", reader, bytes_read), daemon=True)
            if watched:
                listeners.start()
            time.sleep(SETTLE_SECONDS)
            drained(claims), drained(bytes_read)
            before, start = process.cpu_times(), time.monotonic()
            time.sleep(ROUND_SECONDS)
            after, end = process.cpu_times(), time.monotonic()
            shares[watched].append((after.user + after.system - before.user - before.system) / (end - start))
            waited[watched] += drained(claims)
            if watched:
                for size, number_of_events in drained(bytes_read):
                    volume, events = volume + size, events + number_of_events
                listeners.terminate()
                listeners.join()
    finally:
        workers.terminate()
        server.terminate()
        server.wait()
    seconds = ROUNDS * ROUND_SECONDS
    pages = statistics.median(shares[True]) - statistics.median(shares[False])
    table.row("claims timed without dashboards, with them", f"{len(waited[False]):,}, {len(waited[True]):,}")
    table.row(f"a status comes every, to each of {DASHBOARDS}", f"{seconds * DASHBOARDS / max(1, events):.1f} s")
    table.row("bytes of a status", f"{volume / max(1, events):,.0f}")
    for watched, name in ((False, "without dashboards"), (True, f"with {DASHBOARDS} dashboards")):
        median = statistics.median(shares[watched])
        table.row(f"processor time of the server, {name}", f"{median:.1%} of a core")
        claim = f"{1000 * statistics.median(waited[watched]):.1f} ms, p99 {p99(waited[watched]):.1f} ms"
        table.row(f"a claim, {name}", claim)
    table.row("the pages alone", f"{pages:.1%} of a core")
    table.row("p99 of a claim, with and without", f"{p99(waited[True]) / p99(waited[False]):.2f}")


def main() -> None:
    table = Table("what", "figure")
    with tempfile.TemporaryDirectory(prefix="langford-dashboards-") as folder:
        where = filled(str(Path(folder) / "langford.db"), TASKS // 2, 0)
        measure(where, table)


if __name__ == "__main__":
    main()
