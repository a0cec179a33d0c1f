"""Why a server cannot be reached at first: what asking again will not change, and what it may."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

SECONDS = 5.0


def permanent(error: BaseException, scheme: str, host: str, port: int) -> str | None:
    """Why no later attempt to reach the server can succeed, and what to do; None when one may.

    Args:
        error: of the first request.
        scheme: "http" or "https", as the worker was told.
        host: of the server.
        port: of the server.
    """
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"its certificate is not trusted here ({cause.verify_message}): give --certificate FILE with the "
                "server's own, and use the host's name that stands in it"
            )
        if isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN:
            return f"there is no host {host} ({cause.strerror}): check the address"
    if scheme == "https" and any(isinstance(cause, ssl.SSLError) for cause in _causes(error)):
        if _speaks_tls(host, port) is False:
            return "it does not speak TLS: write http://, if the network is to be trusted"
    elif scheme == "http" and _speaks_tls(host, port):
        return "it speaks TLS: write https://"
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error, and those that led to it."""
    following: BaseException | None = error
    while following is not None:
        yield following
        following = following.__cause__ or following.__context__


def _speaks_tls(host: str, port: int) -> bool | None:
    """Whether a server speaks TLS; None when nobody listens now."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        connection = socket.create_connection((host, port), SECONDS)
    except OSError:
        return None
    try:
        with connection, context.wrap_socket(connection, server_hostname=host):
            return True
    except (OSError, ValueError):
        return False
