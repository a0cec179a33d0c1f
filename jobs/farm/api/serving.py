"""Running the task server: its socket and certificate, its event loop, its open files, and its shutdown."""

from __future__ import annotations

import asyncio
import resource
import socket
import ssl
import sys
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import uvicorn
from cryptography.x509 import load_pem_x509_certificates
from starlette.applications import Starlette

from db.messages import iso
from jobs.farm.api.clients import PROTECTING, PROTECTING_WITH_TLS, Clients
from jobs.farm.guard.bounds import BACKLOG, FILES_OF_ITS_OWN, MAX_FILES, PIECE, RECEIVED_AHEAD
from jobs.farm.guard.door import THIS_SERVER
from jobs.farm.guard.protocol import GuardedProtocol
from jobs.farm.guard.protocol import Serving as Serving
from langford.errors import BadInput, MachineFailed
from langford.machine.folders import others_can_read

SWITCH_SECONDS = 0.0002
"""How long another thread may run while the event loop is ready to continue."""


def socket_of(host: str, port: int) -> socket.socket:
    """A socket that listens; raises BadInput.

    Args:
        host: a name or an address of this machine.
        port: 0: a free one.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server((str(address[0]), port), family=family, backlog=BACKLOG)
        # The connections inherit these options.  What waits to be read is memory of the system.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_AHEAD)
        # Without it the second part of an answer waits until the client
        # acknowledges the first one, for up to 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(
            f"cannot listen on {host} port {port} ({reason}): choose another --port or --host"
        ) from error


def require_certificate(certificate: str, key: str | None, now: float) -> None:
    """Raises BadInput unless a server can use a certificate.

    Args:
        certificate: file with its chain, PEM.
        key: file with its private key, PEM; None: it is in the same file.
        now: the time, in seconds since 1970.
    """
    secret = Path(key or certificate)
    if others_can_read(secret):
        raise BadInput(
            f"others on this machine can read the private key in {secret}: chmod 600 {secret}; if they may have "
            "done so, get a new key and certificate"
        )
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:
        named = f"{certificate} with the key {key}" if key else f"{certificate}, which must hold the key too"
        raise BadInput(
            f"cannot use the certificate {named} ({error}): give PEM files, the key without a password"
        ) from error
    first, *_ = load_pem_x509_certificates(Path(certificate).read_bytes())
    begins, ends = (time.timestamp() for time in (first.not_valid_before_utc, first.not_valid_after_utc))
    if not begins <= now <= ends:
        how = f"expired at {iso(ends)}" if now > ends else f"is not valid before {iso(begins)}"
        raise BadInput(f"the certificate {certificate} {how}, and no worker would trust it: get a new one")


class Server(uvicorn.Server):
    """A server whose connections come in by a door; it also ends when a signal came while it started."""

    def __init__(self, config: uvicorn.Config, clients: Clients, stopping: Callable[[], bool]) -> None:
        super().__init__(config)
        self._door, self._hearing, self._stopping = clients.door, clients.hearing, stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self.lifespan.startup()
        [listener] = sockets or []
        options = {"config": self.config, "server_state": self.server_state, "app_state": self.lifespan.state}
        make = partial(self.config.http_protocol_class, **options)
        self._door.open(listener, lambda guest: make(guest=guest), self.config.ssl)  # type: ignore[call-arg]
        self.servers, self.started = [self._door], True  # type: ignore[list-item]  # all that is done is close it
        # From now on this server receives signals; one that came earlier is known to the caller only.
        self.should_exit = self.should_exit or self._stopping()

    async def on_tick(self, counter: int) -> bool:
        self._hearing.sign()
        return await super().on_tick(counter)


def serve(
    application: Starlette,
    clients: Clients,
    listener: socket.socket,
    serving: Serving,
    stopping: Callable[[], bool] = bool,
) -> None:
    """Serve an application on a socket that listens, until SIGINT or SIGTERM, which is raised again afterwards.

    Args:
        application, clients: of :func:`jobs.farm.api.server.application`.
        listener: see :func:`socket_of`.
        serving: the certificate.
        stopping: whether a signal came before the server had started, so that it ends at once.
    """
    log, clients.door.most = clients.log, max(1, allow_many_files() - FILES_OF_ITS_OWN)
    protocol: Callable[..., asyncio.Protocol] = partial(
        GuardedProtocol,
        door=clients.door,
        serving=serving,
        turns=clients.turns,
        headers=PROTECTING_WITH_TLS if serving.certificate else PROTECTING,
    )
    sys.setswitchinterval(SWITCH_SECONDS)
    # Each connection has a buffer of this size for what it decrypts, of 256 KiB unless told otherwise.
    SSLProtocol.max_size = PIECE
    config = uvicorn.Config(
        application,
        ssl_certfile=serving.certificate,
        ssl_keyfile=serving.key,
        http=protocol,  # type: ignore[arg-type]  # uvicorn calls it like the class
        ws="none",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    server = Server(config, clients, stopping)
    with asyncio.Runner() as runner:
        runner.get_loop().set_exception_handler(
            lambda loop, context: log.say(THIS_SERVER, str(context.get("message")), context.get("exception"))
        )
        runner.run(server.serve(sockets=[listener]))
    if not server.started:
        raise MachineFailed("the task server could not start: its log says why")


def allow_many_files() -> int:
    """Raise the limit on open files to what the system allows, up to MAX_FILES; returns the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return MAX_FILES if soft == resource.RLIM_INFINITY else soft
