"""Servers that answer as no server of ours would, and what a command takes of the memory meanwhile."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache, reduce
from pathlib import Path
from types import TracebackType

from tests.support.command_line import COMMAND, ENVIRONMENT

MEASURED = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True, timeout=100)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps([done.returncode, done.stdout, done.stderr, peak]))
"""
"""A small process starts the command: what a large one has in its memory would count for its children."""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Attack = Callable[[], Iterator[bytes]]
"""What a server sends, part by part; it stops when nobody reads any more."""


class EvilServer:
    """A server on this machine that answers every request in one way; a context manager.

    Attributes:
        url: of a campaign there.
        requests: what came, as far as it was read.
        sent: bytes that somebody took.
    """

    def __init__(self, attack: Attack, pause: float = 0.0) -> None:
        """``pause``: seconds between two parts of an answer."""
        self.requests: list[bytes] = []
        self.sent = 0
        self._attack, self._pause = attack, pause
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/evil"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=[connection], daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            self.requests.append(connection.recv(65_536))
            for part in self._attack():
                connection.sendall(part)
                self.sent += len(part)
                time.sleep(self._pause)

    def __enter__(self) -> EvilServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def measured(folder: Path, *arguments: str, **variables: str) -> tuple[subprocess.CompletedProcess[str], int]:
    """A command with arguments that has ended, and the most memory that one of its processes had, in MiB."""
    launcher = [sys.executable, "-S", "-c", MEASURED, *COMMAND, *arguments]
    environment = {**ENVIRONMENT, "LANGFORD_TOKEN": "t", **variables}
    done = subprocess.run(launcher, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    code, output, errors, peak = json.loads(done.stdout)
    return subprocess.CompletedProcess(list(arguments), code, output, errors), peak >> 10


# -- answers ----------------------------------------------------------------------------------


@cache
def bomb(layers: int = 2, mebibytes: int = 512) -> bytes:
    """Zeros, packed again and again: 512 MiB in some kilobytes."""
    # After a full flush the same bytes say the same again: each MiB is packed as the first one.
    packing, zeros = zlib.compressobj(9, wbits=-15), bytes(2**20)
    part = packing.compress(zeros) + packing.flush(zlib.Z_FULL_FLUSH)
    check = reduce(lambda check, _: zlib.crc32(zeros, check), range(mebibytes), 0)
    head, end = b"\x1f\x8b\x08" + bytes(6) + b"\xff", b"\x03\x00"
    content = head + mebibytes * part + end + struct.pack("<II", check, mebibytes << 20)
    for _ in range(layers - 1):
        packing = zlib.compressobj(9, wbits=31)
        content = packing.compress(content) + packing.flush()
    return content


def encoded(name: str) -> Attack:
    """A bomb that says how it is packed."""
    return lambda: iter(
        [HEAD + b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (name.encode(), len(bomb())) + bomb()]
    )


def whole(content: bytes, status: bytes = b"200 OK") -> Attack:
    """A proper answer."""
    head = HEAD.replace(b"200 OK", status) + b"Content-Length: %d\r\n\r\n" % len(content)
    return lambda: iter([head + content])


def without_end(part: bytes, head: bytes = HEAD + b"\r\n") -> Attack:
    """A head, and one part for ever."""

    def parts() -> Iterator[bytes]:
        yield head
        while True:
            yield part

    return parts


def swelling(size: int) -> bytes:
    """JSON that takes the most memory for its bytes."""
    part = b'{"":0},'
    return b"[" + part * (size // len(part) - 1) + b"0]"


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
ATTACKS: dict[str, Attack] = {
    "a bomb": encoded("gzip, gzip"),
    "a bomb of one layer": encoded("gzip"),
    "a bomb beside identity": encoded("identity, gzip"),
    "a bomb in capitals": encoded("GZip"),
    "an encoding that is none": encoded("zip-of-mine"),
    "a body without end": without_end(bytes(2**20)),
    "a body with a length that never ends": without_end(bytes(2**20), HEAD + b"Content-Length: %d\r\n\r\n" % 2**60),
    "chunks without end": without_end(b"100000\r\n" + bytes(2**20) + b"\r\n", CHUNKED),
    "a chunk with an extension without end": without_end(b"x" * 2**20, CHUNKED + b"1;"),
    "trailers without end": without_end(b"X-More: y\r\n" * 10_000, CHUNKED + b"2\r\n[]\r\n0\r\n"),
    "headers without end": without_end(b"X-More: y\r\n" * 10_000, HEAD),
    "a header without end": without_end(b"y" * 2**20, HEAD + b"X-More: "),
    "a status without end": without_end(b"y" * 2**20, b"HTTP/1.1 200 "),
    "a length too large": lambda: iter([HEAD + b"Content-Length: 100\r\n\r\n[]"]),
    "a length below 0": lambda: iter([HEAD + b"Content-Length: -1\r\n\r\n[]"]),
    "two lengths": lambda: iter([HEAD + b"Content-Length: 2\r\nContent-Length: 1\r\n\r\n[]"]),
    "a length that is none": lambda: iter([HEAD + b"Content-Length: 0x2\r\n\r\n[]"]),
    "an answer that goes on": lambda: iter([HEAD + b"Content-Length: 2\r\n\r\n[]" + bytes(2**20)]),
    "JSON that swells": lambda: iter([HEAD + b"\r\n" + swelling(4 * 2**20)]),
    "an error that swells": whole(b'{"error": "' + b"x" * (4 * 2**20 - 100) + b'"}', b"503 Busy"),
    "an error that is none": whole(b'{"error": ' + swelling(2**20) + b"}", b"503 Busy"),
    "deep JSON": whole(b"[" * 2**20),
    "nothing": lambda: iter([]),
    "no HTTP": lambda: iter([b"\x00\xff" * 100_000]),
}
"""Answers to a GET, each of which ends, or is to be ended, at once."""
