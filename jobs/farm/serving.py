"""The task server on a network, with limits on what strangers can hold: connections, time and lines of its log."""

from __future__ import annotations

import asyncio
import resource
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from jobs.farm.connections import Connections, LimitedLog, network_of
from jobs.farm.streams import Streams

HEADER_SECONDS, BODY_SECONDS, TAKING_SECONDS, HANDSHAKE_SECONDS = 10.0, 60.0, 30.0, 10.0
LONGEST_HEADERS = 16 * 1024
MOST_FILES, FILES_OF_ITS_OWN = 65_536, 100
FAILED_TO_START = 3


@dataclass(frozen=True)
class Serving:
    """How a server speaks, and how long it waits.

    Attributes:
        certificate: file with a TLS certificate chain; None: without TLS.
        key: file with its private key.
        header_seconds: time for the headers of a request, from the start of a connection on.
        body_seconds: time for the body of a request.
        taking_seconds: time for the other end to take what waits for it; a computer that was closed takes nothing.
    """

    certificate: str | None = None
    key: str | None = None
    header_seconds: float = HEADER_SECONDS
    body_seconds: float = BODY_SECONDS
    taking_seconds: float = TAKING_SECONDS


class GuardedProtocol(H11Protocol):
    """HTTP on one connection, which ends when a request takes too long to arrive.

    Attributes:
        address: of the other end.
    """

    address = ""

    def __init__(
        self, *arguments: Any, connections: Connections, log: LimitedLog, serving: Serving, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._guard, self._log, self._serving = connections, log, serving
        self._timer: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None
        self._awaited: object = None

    @property
    def busy(self) -> bool:
        """Whether a whole request has arrived that is not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self.address = network_of(self.client[0] if self.client else "")
        if self._guard.opened(self, self.client):
            self._log.say(self.address, "too many connections without a token: the oldest is closed")
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait()

    def pause_writing(self) -> None:
        """The other end takes less than it gets: it has some time to take more."""
        super().pause_writing()
        self._taking = self.loop.call_later(self._serving.taking_seconds, self.abort)

    def resume_writing(self) -> None:
        self._stop_taking()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_taking()
        self._guard.closed(self, self.client)
        super().connection_lost(exc)

    def _wait(self) -> None:
        """Start the time of what shall arrive next, unless it runs: the headers of a request, or its body."""
        awaited = self.conn.their_state
        if awaited is self._awaited:
            return
        self._stop_waiting()
        seconds = {h11.IDLE: self._serving.header_seconds, h11.SEND_BODY: self._serving.body_seconds}
        if awaited in seconds and not self.transport.is_closing():
            self._awaited = awaited
            self._timer = self.loop.call_later(seconds[awaited], self.abort)

    def _stop_waiting(self) -> None:
        self._awaited = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_taking(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None


class Server(uvicorn.Server):
    """A server that ends what would never end by itself, before it waits for all answers to be sent."""

    def __init__(self, config: uvicorn.Config, streams: Streams | None, stopping: Callable[[], bool]) -> None:
        super().__init__(config)
        self._streams, self._stopping = streams, stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # From now on signals come to this server; an earlier one did not.
        self.should_exit = self.should_exit or self._stopping()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._streams is not None:
            self._streams.close()
        await super().shutdown(sockets)


class GuardedLoop(asyncio.SelectorEventLoop):
    """An event loop whose TLS handshakes take no longer than a request's headers."""

    async def create_server(self, *arguments: Any, **options: Any) -> asyncio.Server:
        if options.get("ssl") is not None:
            options["ssl_handshake_timeout"] = HANDSHAKE_SECONDS
        return await super().create_server(*arguments, **options)


def serve(
    application: Starlette,
    connections: Connections,
    log: LimitedLog,
    listener: socket.socket,
    serving: Serving,
    streams: Streams | None = None,
    stopping: Callable[[], bool] = bool,
) -> None:
    """Serve an application on a socket that listens, until SIGINT or SIGTERM.

    Args:
        application: answers the requests.
        connections: those of the server.
        log: for what operators shall know.
        listener: the socket.
        serving: how it speaks, and how long it waits.
        streams: end before the server.
        stopping: whether it shall end at once, because a signal came before it was there.
    """
    connections.most = max(1, allow_many_files() - FILES_OF_ITS_OWN)
    protocol: Callable[..., asyncio.Protocol] = partial(
        GuardedProtocol, connections=connections, log=log, serving=serving
    )
    config = uvicorn.Config(
        application,
        ssl_certfile=serving.certificate,
        ssl_keyfile=serving.key,
        http=protocol,  # type: ignore[arg-type]  # it is called like the class
        ws="none",
        h11_max_incomplete_event_size=LONGEST_HEADERS,
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    server = Server(config, streams, stopping)
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=GuardedLoop) as runner:
        runner.get_loop().set_exception_handler(
            lambda loop, context: log.say("this server", str(context.get("message")), context.get("exception"))
        )
        runner.run(server.serve(sockets=[listener]))
    if not server.started:
        sys.exit(FAILED_TO_START)


def allow_many_files() -> int:
    """Let this process hold as many files and connections as the system allows it; returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft
