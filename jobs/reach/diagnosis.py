"""Why a server cannot be reached, and whether a later request may succeed."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPSConnection

from db.messages import iso

CONNECT_SECONDS = 5.0
EXPIRED, NOT_YET_VALID = 10, 9
"""Errors of OpenSSL's verification, see its page ``openssl-verification-options``."""


def permanent(error: BaseException, scheme: str, host: str, port: int) -> str | None:
    """Why no later attempt to reach the server can succeed, and what to do; None when one may.

    ``error``: of the first request; ``scheme``: "http" or "https", from the worker's command line.
    """
    untrusted = distrust(error, host, port)
    if untrusted is not None:
        return (
            f"its certificate is not trusted here ({untrusted}): give the server's certificate with "
            "--certificate FILE, and use a host name that it contains"
        )
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN:
            return f"there is no host {host} ({cause.strerror}): check the address"
    if scheme == "https" and any(isinstance(cause, ssl.SSLError) for cause in _causes(error)):
        if _speaks_tls(host, port) is False:
            return "it does not speak TLS: write http://, if you trust the network"
    elif scheme == "http" and _speaks_tls(host, port):
        return "it speaks TLS: write https://"
    return None


def distrust(error: BaseException, host: str, port: int) -> str | None:
    """Why the certificate of a server is not trusted; None when that is not what an error is about."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = cause.verify_message
            if cause.verify_code in (EXPIRED, NOT_YET_VALID):
                reason += f"; it is {iso(time.time())} here and {_time_at(host, port) or 'an unknown time'} there"
            return reason
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    following: BaseException | None = error
    while following is not None:
        yield following
        following = following.__cause__ or following.__context__


def _trusting_all() -> ssl.SSLContext:
    """A context for requests without a token, to look at a server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _time_at(host: str, port: int) -> str | None:
    """None when the server does not tell."""
    server = HTTPSConnection(host, port, timeout=CONNECT_SECONDS, context=_trusting_all())
    with suppress(OSError, HTTPException, TypeError, ValueError), closing(server):
        server.request("HEAD", "/")
        return iso(parsedate_to_datetime(server.getresponse().getheader("Date", "")).timestamp())
    return None


def _speaks_tls(host: str, port: int) -> bool | None:
    """None when nothing listens there now."""
    try:
        connection = socket.create_connection((host, port), CONNECT_SECONDS)
    except OSError:
        return None
    try:
        with connection, _trusting_all().wrap_socket(connection, server_hostname=host):
            return True
    except (OSError, ValueError):
        return False
