"""How a worker asks a server again: its pauses, and a batch of results that was refused as a whole."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import ClassVar
from unittest.mock import Mock

import pytest
from httpcore._sync import http11

from db import Credential, Delivery, Receipt
from db.errors import Away, ConnectionLost
from db.states import EventKind
from jobs.reach.outgoing import deliver_each
from jobs.reach.patience import Backoff, Patience, Postponed
from jobs.reach.remote import RemoteServer
from jobs.reach.requests import RequestRefused
from jobs.run.source import RENEWAL_SECONDS
from tests.support.campaigns import TRUE, delivery
from tests.support.clock import MovableClock
from tests.support.consoles import KeptConsole


def test_each_failure_doubles_the_pause_up_to_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = MovableClock()
    monkeypatch.setattr(random, "uniform", lambda least, most: most)
    asking = Backoff(1.0, 6.0, clock=clock)
    assert asking.due

    def pause() -> float:
        asking.failed()
        began = clock.monotonic()
        while not asking.due:
            clock.wait(0.5)
        return clock.monotonic() - began

    assert [pause() for _ in range(5)] == [1.0, 2.0, 4.0, 6.0, 6.0]
    asking.failed()
    asking.succeeded()
    assert asking.due
    assert pause() == 1.0


def test_a_worker_that_asked_in_vain_for_a_day_still_asks() -> None:
    asking = Backoff(clock=MovableClock())
    for _ in range(2000):
        asking.failed()
    assert not asking.due


def test_each_new_reason_is_said_once_with_the_time_since_when() -> None:
    """Numbers that differ, as of requests in the server's log, are no new reason."""
    clock, console = MovableClock(), KeptConsole()
    patience = Patience(console, "the farm", clock)
    reasons = [
        "no answer",
        "no answer",
        "busy, see 2dc9695addad",
        "no answer",
        "busy, see f3e2f0a02a3d",
        None,
        "no answer",
    ]

    def question() -> str:
        clock.move(60.0)
        reason = reasons.pop(0)
        if reason is not None:
            raise ConnectionLost(reason)
        return "here"

    for _ in range(5):
        with pytest.raises(Away):
            patience.ask(question)
    assert not patience.due
    assert patience.insist(question) == "here"
    assert patience.due
    with pytest.raises(Away):
        patience.ask(question)
    first, later = (f"; asking again (away since 1970-01-01T00:{minute}:40Z)" for minute in (17, 23))
    assert console.said == [
        f"no answer{first}",
        f"busy, see 2dc9695addad{first}",
        "the farm is back",
        f"no answer{later}",
    ]


def test_who_insists_asks_until_there_is_an_answer_or_a_reason_to_stop() -> None:
    clock, stop, asked = MovableClock(), list[str](), list[float]()

    def question() -> str:
        asked.append(clock.monotonic())
        if len(asked) < 5:
            raise ConnectionLost("no answer")
        return "here"

    patience = Patience(KeptConsole(lambda: stop[0] if stop else None), "the farm", clock)
    assert patience.insist(question) == "here"
    waits = [later - earlier for earlier, later in pairwise(asked)]
    assert all(0.25 * 2**number <= wait <= 0.5 * 2**number + 0.2 for number, wait in enumerate(waits))
    del asked[:]
    stop.append("SIGTERM")
    with pytest.raises(Away):
        patience.insist(question)
    assert len(asked) == 1


def test_of_a_batch_that_is_refused_each_result_has_its_own_receipt(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the results: the receipt of another one would throw a good one away."""
    campaign = RemoteServer("http://localhost:1/seven", "token").campaign()
    spoiling = {1, 4}

    def deliver(deliveries: Sequence[Delivery]) -> list[Receipt]:
        if spoiling & {each.attempt for each in deliveries}:
            raise RequestRefused("it cannot be read")
        return [Receipt.of(None, str(each.attempt)) for each in deliveries]

    monkeypatch.setattr(campaign, "deliver", deliver)
    receipts = deliver_each(campaign, [delivery(Credential(number, "n"), TRUE[number]) for number in range(7)])
    refused = Receipt.of(EventKind.REFUSED, "it cannot be read")
    assert receipts == [refused if number in spoiling else Receipt.of(None, str(number)) for number in range(7)]
    campaign.close()


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_a_worker_waits_at_least_as_long_as_it_was_told(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    """Pauses are random, from half of their length on."""
    monkeypatch.setattr(random, "uniform", lambda least, most: share)
    clock = MovableClock()
    patience = Patience(KeptConsole(), "the farm", clock)

    def too_early() -> None:
        raise Postponed("too many requests", 10.0)

    with pytest.raises(Postponed):
        patience.ask(too_early)
    clock.wait(9.9)
    assert not patience.due
    clock.wait(10.2)
    assert patience.due


def test_a_server_without_time_is_named_again_after_an_answer() -> None:
    console = KeptConsole()
    patience = Patience(console, "the farm", MovableClock())

    def busy() -> None:
        raise Postponed("the ledger does not answer: the server's log explains it under 1f2e", 2.0)

    for question in (busy, busy, lambda: None, busy):
        with suppress(Postponed):
            patience.ask(question)
    assert [said.split(":")[0] for said in console.said] == ["the ledger does not answer"] * 2


class Counting(BaseHTTPRequestHandler):
    """A server that counts its connections, and has no time for leases."""

    protocol_version = "HTTP/1.1"
    connections: ClassVar[list[object]] = []

    def setup(self) -> None:
        super().setup()
        self.connections.append(self)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        busy = self.path.endswith("/leases")
        content = b'{"error": "no time"}' if busy else b'{"running": []}'
        self.send_response(503 if busy else 200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Retry-After", "30")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        """Nothing is printed."""


def test_a_worker_uses_one_connection_and_hears_how_long_a_busy_server_asks_it_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where its renewals are as far apart as they may be."""
    passed = 0.0
    monkeypatch.setattr(http11, "time", Mock(monotonic=lambda: time.monotonic() + passed))
    Counting.connections.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Counting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        campaign = RemoteServer(f"http://127.0.0.1:{server.server_port}/seven", "token").campaign()
        campaign.uuid = "u"
        for _ in range(3):
            assert campaign.renew([], 240.0) == set()
            with pytest.raises(Postponed) as busy:
                campaign.lease("w", 1, 240.0, [])
            assert busy.value.seconds == 30.0
            passed += 2 * RENEWAL_SECONDS
        campaign.close()
        server.shutdown()
    assert len(Counting.connections) == 1
