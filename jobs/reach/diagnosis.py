"""Why a server cannot be reached at first, and whether a later request may succeed."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

CONNECT_SECONDS = 5.0


def permanent(error: BaseException, scheme: str, host: str, port: int) -> str | None:
    """Why no later attempt to reach the server can succeed, and what to do; None when one may.

    Args:
        error: of the first request.
        scheme: "http" or "https", from the worker's command line.
        host: of the server.
        port: of the server.
    """
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"its certificate is not trusted here ({cause.verify_message}): give the server's certificate with "
                "--certificate FILE, and use a host name that it contains"
            )
        if isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN:
            return f"there is no host {host} ({cause.strerror}): check the address"
    if scheme == "https" and any(isinstance(cause, ssl.SSLError) for cause in _causes(error)):
        if _speaks_tls(host, port) is False:
            return "it does not speak TLS: write http://, if you trust the network"
    elif scheme == "http" and _speaks_tls(host, port):
        return "it speaks TLS: write https://"
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and the errors that caused it."""
    following: BaseException | None = error
    while following is not None:
        yield following
        following = following.__cause__ or following.__context__


def _speaks_tls(host: str, port: int) -> bool | None:
    """Whether a server speaks TLS; None when nothing listens there now."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        connection = socket.create_connection((host, port), CONNECT_SECONDS)
    except OSError:
        return None
    try:
        with connection, context.wrap_socket(connection, server_hostname=host):
            return True
    except (OSError, ValueError):
        return False
