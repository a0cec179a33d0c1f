"""A relay between workers and their server that loses, doubles, delays, cuts and alters messages, by a seed."""

from __future__ import annotations

import contextlib
import http.client
import random
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ODD = [
    (200, "text/html", b"<html>log in to this network</html>"),
    (302, "text/html", b""),
    (404, "text/html", b"<html>nothing here</html>"),
    (408, "text/plain", b"too slow"),
    (200, "application/json", b'{"leases": 5}'),
    (500, "text/html", b"oh"),
    (503, "text/html", b"come back later"),
]
SECONDS = 20.0
OLDEST = 50
"""Requests that may come once more, long after their answer."""


@dataclass(frozen=True)
class Message:
    """A request on its way.

    Attributes:
        method: "GET" or "POST".
        path: of the address.
        token: what it shows.
        body: its content.
    """

    method: str
    path: str
    token: str
    body: bytes


class Relay(ThreadingHTTPServer):
    """Listens for workers, and speaks to the server.

    Attributes:
        share: of the messages to which something happens.
        faults: what has happened so far, by its name.
    """

    daemon_threads = True
    request_queue_size = 100

    def __init__(self, port: int, to: int, seed: int) -> None:
        self.share, self.faults = 0.0, Counter[str]()
        self._to, self._chance, self._lock = to, random.Random(seed), threading.Lock()
        self._earlier: list[Message] = []
        super().__init__(("127.0.0.1", port), Relayed)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request: object, client_address: object) -> None:
        """Connections break here on purpose."""

    def fault(self) -> tuple[str, float] | None:
        """What happens to the next message, and a random number for how; None: nothing."""
        with self._lock:
            if self._chance.random() >= self.share:
                return None
            name = self._chance.choice(list(FAULTS))
            self.faults[name] += 1
            return name, self._chance.random()

    def remember(self, message: Message) -> None:
        """Keep a message that may come once more."""
        with self._lock:
            self._earlier = [*self._earlier[-OLDEST:], message]

    def earlier(self, number: float) -> Message | None:
        """One of the messages that were answered before."""
        with self._lock:
            return self._earlier[int(number * len(self._earlier))] if self._earlier else None

    def ask(self, message: Message) -> tuple[int, str, bytes] | None:
        """The server's answer: its status, its type and its content; None when there is none."""
        server = http.client.HTTPConnection("127.0.0.1", self._to, timeout=SECONDS)
        try:
            headers = {"Authorization": message.token, "Content-Type": "application/json"}
            server.request(message.method, message.path, message.body, headers)
            answer = server.getresponse()
            return answer.status, answer.getheader("Content-Type", ""), answer.read()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            server.close()

    def send_half(self, message: Message) -> None:
        """Send the server half of a request, and hang up."""
        head = (
            f"{message.method} {message.path} HTTP/1.1\r\nHost: x\r\nAuthorization: {message.token}\r\n"
            f"Content-Length: {len(message.body)}\r\n\r\n"
        )
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._to), SECONDS) as server:
            server.sendall(head.encode() + message.body[: len(message.body) // 2])


class Relayed(BaseHTTPRequestHandler):
    """One request of a worker."""

    server: Relay

    def do_GET(self) -> None:
        self._relay("GET")

    def do_POST(self) -> None:
        self._relay("POST")

    def log_message(self, format: str, *arguments: object) -> None:
        """The soak counts; it does not log."""

    def _relay(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        message = Message(method, self.path, self.headers["Authorization"], body)
        fault = self.server.fault()
        if fault is None:
            self.answer(self.server.ask(message))
            self.server.remember(message)
        else:
            name, number = fault
            FAULTS[name](self, message, number)

    def answer(self, answer: tuple[int, str, bytes] | None, cut: bool = False) -> None:
        """Send the worker an answer, or half of it; None: hang up."""
        self.close_connection = True
        if answer is None:
            return
        status, kind, content = answer
        with contextlib.suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if cut else content)


Fault = Callable[[Relayed, Message, float], None]


def _lost_request(worker: Relayed, message: Message, number: float) -> None:
    worker.answer(None)


def _lost_answer(worker: Relayed, message: Message, number: float) -> None:
    worker.server.ask(message)
    worker.answer(None)


def _doubled(worker: Relayed, message: Message, number: float) -> None:
    answers = [worker.server.ask(message) for _ in range(2)]
    worker.answer(answers[int(2 * number)])


def _cut_answer(worker: Relayed, message: Message, number: float) -> None:
    worker.answer(worker.server.ask(message), cut=True)


def _cut_request(worker: Relayed, message: Message, number: float) -> None:
    worker.server.send_half(message)
    worker.answer(None)


def _odd_answer(worker: Relayed, message: Message, number: float) -> None:
    worker.answer(ODD[int(number * len(ODD))])


def _odd_answer_to_what_was_done(worker: Relayed, message: Message, number: float) -> None:
    worker.server.ask(message)
    worker.answer(ODD[int(number * len(ODD))])


def _delayed(worker: Relayed, message: Message, number: float) -> None:
    time.sleep(number)
    worker.answer(worker.server.ask(message))


def _earlier_again(worker: Relayed, message: Message, number: float) -> None:
    earlier = worker.server.earlier(number)
    if earlier is not None:
        worker.server.ask(earlier)
    worker.answer(worker.server.ask(message))


def _altered_result(worker: Relayed, message: Message, number: float) -> None:
    """One digit of a result is another one; whatever is no result arrives as it was."""
    digits = [match.start() for match in re.finditer(rb"[0-9]", message.body)]
    if message.path.endswith("/results") and digits:
        place = digits[int(number * len(digits))]
        other = (message.body[place] - ord("0") + 1 + int(number * 8)) % 10
        changed = message.body[:place] + b"%d" % other + message.body[place + 1 :]
        message = Message(message.method, message.path, message.token, changed)
    worker.answer(worker.server.ask(message))


FAULTS: dict[str, Fault] = {
    "request lost": _lost_request,
    "answer lost": _lost_answer,
    "request doubled": _doubled,
    "answer cut short": _cut_answer,
    "request cut short": _cut_request,
    "odd answer": _odd_answer,
    "odd answer to what was done": _odd_answer_to_what_was_done,
    "request delayed": _delayed,
    "an earlier request again": _earlier_again,
    "digit altered": _altered_result,
}
"""What may happen to a message."""
