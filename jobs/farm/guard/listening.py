"""The socket and the certificate of the task server, checked before it starts."""

from __future__ import annotations

import socket
import ssl

from langford.errors import BadInput

BACKLOG = 2048
"""Connections that may wait to be accepted."""


def socket_of(host: str, port: int) -> socket.socket:
    """Raises BadInput."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server((str(address[0]), port), family=family, backlog=BACKLOG)
        # The connections inherit this option.  Without it the second part of an answer waits until the client
        # acknowledges the first one, for up to 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(
            f"cannot listen on {host} port {port} ({reason}): choose another --port or --host"
        ) from error


def require_certificate(certificate: str, key: str | None) -> None:
    """Raises BadInput unless a server can use this chain and this key, both PEM."""
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:
        named = f"{certificate} with the key {key}" if key else f"{certificate}, which must hold the key too"
        raise BadInput(
            f"cannot use the certificate {named} ({error}): give PEM files, the key without a password"
        ) from error
