"""How long a worker waits for leases while strangers or readers send as many requests as the server takes.

    python benchmarks/strangers.py [--seconds N] [--rounds N] [--campaigns 20] [--connections 60] [--check]

A real server has some campaigns, one of them with 36,168 tasks and 300 workers.  A well-behaved worker at 127.0.0.2
leases a task and returns it, again and again.  Meanwhile one process at 127.0.0.3 repeats one request on all its
connections, each as soon as the last one is answered.  The reference is the flood of an unknown path, which is
refused at once: attacker, server and worker share the cores, so every flood costs the worker something, and other
programs may, too.  In each round every flood is measured next to the reference; each figure is
of all rounds together.
With ``--check`` the exit code is 1 if the p99 of a lease under any flood is more than twice that under the
reference.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import selectors
import socket
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.harness import Figure, Report, parser_of, run
from benchmarks.serving import served
from db import Ledger
from db.states import Role
from db.trust.enrolment import insert_worker
from langford.methods import PlanKey, plan_of
from langford.problem import Problem

LARGE, SMALL = (PlanKey(Problem.langford(12), "polyphase", depth) for depth in (22, 8))
WORKERS, PAUSE_SECONDS, SETTLE_SECONDS = 300, 0.01, 0.5
SERVER, WORKER, ATTACKER = "127.0.0.1", "127.0.0.2", "127.0.0.3"
MOST = 2.0
"""The bar: p99 of a lease under a flood, divided by that under the reference."""
UNIQUE = str(uuid.UUID(int=0)).encode()
"""What an attacker replaces by a new UUID in each request."""
TURNED_AWAY = "refused at once (404)"


@dataclass(frozen=True)
class Flood:
    """One request that an attacker repeats on all its connections.

    Attributes:
        name: in the table.
        request: as it is sent; "" for an attacker that sends nothing and opens connections.
        again: whether each request has a connection of its own.
        endless: what follows the request until the server closes the connection.
        drip: seconds after each byte of the request; 0: it is sent as a whole.
    """

    name: str
    request: bytes
    again: bool = False
    endless: bytes = b""
    drip: float = 0.0


def get(path: str, *headers: str, method: str = "GET", body: str = "") -> bytes:
    length = [f"Content-Length: {len(body)}"] if body or method == "POST" else []
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x:1", *length, *headers, "", body]).encode()


def bearer(token: str) -> str:
    return f"Authorization: Bearer {token}"


def cookie(tokens: list[str]) -> str:
    return f"Cookie: langford-1={'.'.join(tokens)}"


def session(port: int, tokens: list[str]) -> str:
    """The cookie of a browser that has logged in with some tokens."""
    connection, kept = http.client.HTTPConnection(SERVER, port, timeout=20), "a=b"
    for token in tokens:
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Host": "x:1", "Cookie": kept}
        connection.request("POST", "/-/log-in", f"token={token}", headers)
        answer = connection.getresponse()
        answer.read()
        kept = (answer.getheader("Set-Cookie") or "").partition(";")[0]
    connection.close()
    return f"Cookie: {kept}"


def junk(number: int) -> list[str]:
    return [f"{'x' * 40}{place:03}" for place in range(number)]


def by_strangers(name: str) -> Iterator[Flood]:
    """Floods of those who have no token."""
    wrong, path = bearer("x" * 43), f"/campaigns/{name}"
    form = "Content-Type: application/x-www-form-urlencoded"
    chunks = b"1\r\nx\r\n" * 10_000
    yield Flood("cookies of 16 junk tokens, /", get("/", cookie(junk(16))))
    yield Flood("cookies of 16 junk tokens, /campaigns", get("/campaigns", cookie(junk(16))))
    yield Flood("cookies of 16 junk tokens, a page", get(f"/{name}/", cookie(junk(16))))
    yield Flood("cookies of 16 junk tokens, /metrics", get("/metrics", cookie(junk(16))))
    yield Flood("a wrong token, a campaign", get(path, wrong))
    yield Flood("a wrong token, the status", get(f"{path}/status", wrong))
    yield Flood("a wrong token, a lease", get(f"{path}/leases", wrong, method="POST", body="{}"))
    yield Flood("log-in", get("/-/log-in", form, method="POST", body=f"token={'x' * 43}"))
    yield Flood("no token, /", get("/"))
    yield Flood("no token, a campaign", get(path))
    yield Flood("a static file", get("/-/campaign.js"))
    yield Flood("an unknown method", get(path, wrong, method="DELETE"))
    yield Flood("HEAD", get(f"/{name}/", cookie(junk(16)), method="HEAD"))
    yield Flood("not HTTP", b"\0\1\2\r\n\r\n")
    yield Flood("4,000 header lines", get("/", *["a:"] * 4_000))
    yield Flood("a cookie of 5,000 parts", get("/", f"Cookie: {'a=;' * 5_000}"))
    yield Flood("pipelined requests", get("/") * 400, again=True)
    yield Flood("a connection for each request", get("/", "Connection: close"), again=True)
    large = get(f"{path}/results", wrong, method="POST").replace(b"Length: 0", b"Length: 4000000")
    yield Flood("an endless body", large, again=True, endless=b"x" * 60_000)
    chunked = large.replace(b"Content-Length: 4000000", b"Transfer-Encoding: chunked")
    yield Flood("a body in chunks of a byte", chunked, again=True, endless=chunks)


def by_readers(name: str, token: str, opened: str) -> Iterator[Flood]:
    """Floods of those who have a reader's token, or the cookie of a session with one of each of some campaigns."""
    right, path = bearer(token), f"/campaigns/{name}"
    yield Flood("reader: the campaign", get(path, right))
    yield Flood("reader: the status", get(f"{path}/status", right))
    yield Flood("reader: the status, each on a new connection", get(f"{path}/status", right), again=True)
    yield Flood("reader: /campaigns", get("/campaigns", right))
    yield Flood("reader: /campaigns with 16 tokens", get("/campaigns", opened))
    yield Flood("reader: /metrics", get("/metrics", right))
    yield Flood("reader: /metrics with 16 tokens", get("/metrics", opened))
    yield Flood("reader: the page", get(f"/{name}/", opened))
    yield Flood("reader: a lease", get(f"{path}/leases", right, method="POST", body="[" * 60_000))


class Attacker:
    """One connection of the attacker."""

    def __init__(self, port: int, flood: Flood, ready: selectors.BaseSelector, source: str = ATTACKER) -> None:
        self._port, self._flood, self._ready, self._source = port, flood, ready, source
        self._open()

    @property
    def _request(self) -> memoryview:
        """The request, with an identity of its own where it has a place for one."""
        return memoryview(self._flood.request.replace(UNIQUE, str(uuid.uuid4()).encode()))

    def _open(self) -> None:
        self._socket = socket.socket()
        self._socket.bind((self._source, 0))
        self._socket.setblocking(False)
        self._socket.connect_ex((SERVER, self._port))
        self._received, self._sent, self._whole = b"", self._request, False
        self._ready.register(self._socket, selectors.EVENT_READ | selectors.EVENT_WRITE, self)

    def close(self) -> None:
        """Close the connection."""
        self._ready.unregister(self._socket)
        self._socket.close()

    def act(self, events: int) -> int:
        """Send what there is to send, and read what has come; returns how many requests were answered."""
        try:
            if events & selectors.EVENT_WRITE:
                self._send()
            return self._read() if events & selectors.EVENT_READ else 0
        except BlockingIOError:
            return 0
        except OSError:
            self.close()
            self._open()
            return 0

    def _send(self) -> None:
        now = self._sent[:1] if self._flood.drip else self._sent
        self._sent = self._sent[self._socket.send(now) :]
        if not self._sent and self._flood.endless:
            self._sent = memoryview(self._flood.endless)
        if not self._sent:
            self._ready.modify(self._socket, selectors.EVENT_READ, self)

    def _read(self) -> int:
        received = self._socket.recv(1 << 18)
        if not received:
            raise ConnectionResetError
        self._received = (self._received + received)[-(1 << 18) :]
        if self._flood.endless or b"\r\n\r\n" not in self._received:
            return 0
        head, _, body = self._received.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        is_head = self._flood.request.startswith(b"HEAD")
        complete = len(body) >= int(length) if length else b"data: {" in body or b"0\r\n\r\n" in body
        if not (is_head or complete):
            return 0
        if self._flood.again or not length:
            raise ConnectionResetError
        self._received, self._sent = b"", self._request
        self._ready.modify(self._socket, selectors.EVENT_READ | selectors.EVENT_WRITE, self)
        return 1


def attack(port: int, flood: Flood, connections: int, seconds: float, answered: Any, source: str) -> None:
    """Repeat a request on some connections for some seconds, and no longer."""
    os.setpriority(os.PRIO_PROCESS, 0, 0)  # it may have inherited a higher one, which only the worker needs
    deadline = time.monotonic() + seconds
    ready = selectors.DefaultSelector()
    attackers = [Attacker(port, flood, ready, source) for _ in range(connections)]
    while time.monotonic() < deadline:
        for key, events in ready.select(0.1):
            answered.value += key.data.act(events)
        time.sleep(flood.drip)
    for attacker in attackers:
        attacker.close()


class Worker:
    """A well-behaved worker with a connection of its own.

    Attributes:
        id: its UUID.
    """

    def __init__(self, port: int, name: str, token: str, campaign: str) -> None:
        self._http = http.client.HTTPConnection(SERVER, port, timeout=20, source_address=(WORKER, 0))
        self._path, self._headers = f"/campaigns/{name}", {"Authorization": f"Bearer {token}"}
        self._headers["Content-Type"] = "application/json"
        self._campaign, self.id = campaign, str(uuid.uuid4())
        identity = {"worker": self.id, "host": "h", "process": "1", "device_kind": "cpu", "kernels": "k"}
        more = dict.fromkeys(["cores", "processes", "device_model", "slurm_job", "slurm_index"])
        lease = {"campaign": campaign, "worker": self.id, "count": 1, "seconds": 60, "held": [], "copies": 0}
        self.ask("workers", worker={**identity, **more}, lease=lease)  # returned by the next lease

    def ask(self, path: str, **fields: Any) -> Any:
        """The answer to a request, which is repeated until there is one."""
        body = json.dumps(fields)
        while True:
            with suppress(OSError, http.client.HTTPException):
                self._http.request("POST", f"{self._path}/{path}", body, self._headers)
                answer = self._http.getresponse()
                content = answer.read()
                if answer.status == 200:
                    return json.loads(content)
            self._http.close()
            time.sleep(0.1)

    def lease(self, answered: Callable[[], object] = bool) -> float:
        """Seconds of a lease, which is given back; ``answered`` is called between."""
        began = time.perf_counter()
        fields = {"campaign": self._campaign, "worker": self.id, "count": 1, "seconds": 60}
        leases = self.ask("leases", **fields, held=[], copies=0)["leases"]
        seconds = time.perf_counter() - began
        answered()
        shown = [{"attempt": lease["attempt"], "nonce": lease["nonce"]} for lease in leases]
        self.ask("ends", attempts=shown, outcome="released", note="")
        return seconds

    def leases(self, seconds: float) -> list[float]:
        """The seconds of many leases, one after the other."""
        deadline, taken = time.monotonic() + seconds, []
        while time.monotonic() < deadline:
            taken.append(self.lease())
            time.sleep(PAUSE_SECONDS)
        return taken

    def close(self) -> None:
        self._http.close()


@contextmanager
def under(
    flood: Flood | None, port: int, connections: int, seconds: float, answered: Any, source: str = ATTACKER
) -> Iterator[None]:
    """A flood from an address during the block; None: nothing."""
    if flood is None:
        yield
        return
    context = multiprocessing.get_context("fork")
    longest = seconds + 60  # it ends by itself should nobody end it
    process = context.Process(
        target=attack, args=(port, flood, connections, longest, answered, source), daemon=True
    )
    process.start()
    try:
        time.sleep(SETTLE_SECONDS)
        yield
    finally:
        process.terminate()
        process.join()


@dataclass
class Leases:
    """What a worker waited for its leases, and what the attacker got meanwhile.

    Attributes:
        seconds: of each lease.
        answered: requests of the attacker.
        lasted: seconds of all measurements.
    """

    seconds: list[float] = field(default_factory=list)
    answered: int = 0
    lasted: float = 0.0

    def add(self, other: Leases) -> None:
        """Take in those of another measurement."""
        self.seconds += other.seconds
        self.answered, self.lasted = self.answered + other.answered, self.lasted + other.lasted

    @property
    def p99(self) -> float:
        """The 99th percentile; of few leases, the longest."""
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(0.99 * len(self.seconds)))]

    @property
    def cells(self) -> tuple[str, str, str]:
        """Requests answered a second, p50 and p99 of a lease."""
        middle = statistics.median(self.seconds)
        return f"{self.answered / self.lasted:,.0f}", f"{1000 * middle:.1f} ms", f"{1000 * self.p99:.1f} ms"


def prepared(where: str, campaigns: int) -> tuple[str, str, str, list[str]]:
    """A ledger with campaigns; returns (UUID of the large one, token of a worker, of a reader, and of many)."""
    with Ledger(where, create=True) as ledger:
        large = ledger.create_campaign("bench", LARGE, plan_of(LARGE).work.tolist())
        small = [
            ledger.create_campaign(f"bench-{place}", SMALL, plan_of(SMALL).work.tolist())
            for place in range(1, campaigns)
        ]
        for place in range(WORKERS):
            with ledger.database.writing() as connection:
                insert_worker(connection, f"worker-{place}", f"host-{place}", "1")
            large.worker.lease(f"worker-{place}", 4, 3600)
        readers = [campaign.operator.new_token(Role.READER) for campaign in (large, *small)]
        return large.uuid, large.operator.new_token(Role.WORKER), readers[0], readers[:16]


def measure(arguments: argparse.Namespace, report: Report, folder: Path) -> bool:
    """Print the table; returns whether every flood keeps to the bar."""
    where = str(folder / "langford.db")
    campaign, token, reader, readers = prepared(where, arguments.campaigns)
    names = ["bench", *(f"bench-{place}" for place in range(1, arguments.campaigns))]
    floods: list[Flood | None] = [None]
    floods += [flood for flood in by_strangers("bench") if arguments.only in flood.name]
    refused = Flood(TURNED_AWAY, get("/a/b/c"))
    with served(where, *names) as (_, url):
        port = int(url.split(":")[2].split("/")[0])
        opened = session(port, readers)
        floods += [flood for flood in by_readers("bench", reader, opened) if arguments.only in flood.name]
        taken: dict[Flood | None, Leases] = {flood: Leases() for flood in floods}
        bars: dict[Flood | None, Leases] = {flood: Leases() for flood in floods}
        worker = Worker(port, "bench", token, campaign)
        worker.leases(1.0)
        for _ in range(arguments.rounds):
            for flood in floods:
                for measured, meanwhile in ((bars[flood], refused), (taken[flood], flood)):
                    answered = multiprocessing.Value("Q", 0)
                    with under(meanwhile, port, arguments.connections, arguments.seconds, answered):
                        before, began = answered.value, time.monotonic()
                        measured.seconds += worker.leases(arguments.seconds)
                        measured.answered += answered.value - before
                        measured.lasted += time.monotonic() - began
        worker.close()
    table = report.table("flood", "answered a second", "lease, p50", "p99", "p99 / that of the reference beside it")
    every_bar = Leases()
    for bar in bars.values():
        every_bar.add(bar)
    table.row(TURNED_AWAY, *every_bar.cells, "1.00")
    well = True
    for flood, leases in taken.items():
        ratio = leases.p99 / bars[flood].p99
        table.row(flood.name if flood else "quiet", *leases.cells, Figure(ratio, "{:.2f}"))
        well = well and ratio <= MOST
    return well


def main(arguments: argparse.Namespace, report: Report) -> None:
    if arguments.quick:
        arguments.rounds, arguments.seconds, arguments.campaigns = 1, min(arguments.seconds, 0.3), 3
        arguments.only = arguments.only or "token"
    with tempfile.TemporaryDirectory(prefix="langford-strangers-") as folder:
        if not measure(arguments, report, Path(folder)) and arguments.check:
            sys.exit(1)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each flood in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--campaigns", type=int, default=20)
    parser.add_argument("--connections", type=int, default=60, help="of the attacker")
    parser.add_argument("--only", default="", help="floods whose names contain this, besides the one of the bar")
    parser.add_argument("--check", action="store_true", help="exit 1 when a flood exceeds the bar")
    run(parser, main)
