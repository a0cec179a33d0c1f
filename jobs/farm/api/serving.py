"""The task server on a network: its event loop, its files, and its end."""

from __future__ import annotations

import asyncio
import resource
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import uvicorn
from starlette.applications import Starlette

from jobs.farm.api.streams import Streams
from jobs.farm.guard.connections import Connections, LimitedLog
from jobs.farm.guard.event_turns import Turns
from jobs.farm.guard.listening import BACKLOG
from jobs.farm.guard.protocol import LONGEST_HEADERS, GuardedProtocol
from jobs.farm.guard.protocol import Serving as Serving

HANDSHAKE_SECONDS = 10.0
ACCEPTED_AT_ONCE = 1
"""Connections that are taken in one round of the event loop: a worker waits for no more of them."""
SWITCH_SECONDS = 0.001
"""How long a thread computes while the event loop waits to go on."""
MOST_FILES, FILES_OF_ITS_OWN = 65_536, 100
FAILED_TO_START = 3
THIS_SERVER = "this server"


class Server(uvicorn.Server):
    """A server that ends what would never end by itself, before it waits for all answers to be sent."""

    def __init__(self, config: uvicorn.Config, streams: Streams | None, stopping: Callable[[], bool]) -> None:
        super().__init__(config)
        self._streams, self._stopping = streams, stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(BACKLOG)
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
        GuardedProtocol, connections=connections, log=log, serving=serving, turns=Turns()
    )
    sys.setswitchinterval(SWITCH_SECONDS)
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
        backlog=ACCEPTED_AT_ONCE,  # asyncio has one number for both; those who wait to be taken are more
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    server = Server(config, streams, stopping)
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=GuardedLoop) as runner:
        runner.get_loop().set_exception_handler(
            lambda loop, context: log.say(THIS_SERVER, str(context.get("message")), context.get("exception"))
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
