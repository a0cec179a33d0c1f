"""A small server that is notified, and says no as often as it is told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver(ExitStack):
    """A server on this machine; a context manager.

    Attributes:
        url: what to post to.
        tried: every document that came, by order.
        accepted: those that were answered with 204.
        headers: of the last request.
    """

    def __init__(self, refusals: Sequence[int] = ()) -> None:
        """``refusals``: the statuses of the first answers."""
        super().__init__()
        self.tried: list[Any] = []
        self.accepted: list[Any] = []
        self.headers: dict[str, str] = {}
        waiting, lock = list(refusals), threading.Lock()

        def answer(headers: dict[str, str], document: Any) -> int:
            with lock:
                status = waiting.pop(0) if waiting else 204
                self.headers = headers
                self.tried.append(document)
                if status == 204:
                    self.accepted.append(document)
            return status

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(answer(dict(self.headers), document))
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        server = self.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        self.callback(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}/hook"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def kinds(self) -> list[str]:
        """The kinds of what was accepted, in order."""
        return [document["kind"] for document in self.accepted]

    def wait_for(self, number: int, seconds: float = 60.0) -> None:
        """Wait until so many documents were accepted."""
        deadline = time.monotonic() + seconds
        while len(self.accepted) < number:
            assert time.monotonic() < deadline, (self.tried, self.accepted)
            time.sleep(0.05)
