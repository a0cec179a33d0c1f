"""Why a server cannot be reached, and whether a later request may succeed."""

from __future__ import annotations

import socket
import ssl
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from db.messages import iso
from jobs.addresses import is_this_machine
from langford.errors import causes

CONNECT_SECONDS = 5.0
NO_PASSWORD = 407
ANOTHER_CLOCK_SECONDS = 300.0
"""Clocks that differ by more make certificates seem expired, or not valid yet."""
UNKNOWN = "copy the server's join file again"
UNLINKED = "copy the server's join file again, or let the server send its intermediate certificates too"
OTHER_NAME = "use a host name that it contains"
RENEW = "the server needs a new certificate"
WORDS = {
    2: ("the server sends no certificate that links it to one trusted here", UNLINKED),
    9: ("it is not valid yet", RENEW),
    10: ("it has expired", RENEW),
    18: ("it is self-signed and unknown here", UNKNOWN),
    19: ("the authority that signed it is unknown here", UNKNOWN),
    20: ("the server sends no certificate that links it to one trusted here", UNLINKED),
    21: ("the server sends no certificate that links it to one trusted here", UNLINKED),
    23: ("it was revoked", RENEW),
    26: ("it is not a server's certificate", RENEW),
    62: ("it was issued for other host names", OTHER_NAME),
    64: ("it was not issued for this address", OTHER_NAME),
    66: ("its key is too short", RENEW),
    67: ("the key of its authority is too short", RENEW),
    68: ("its signature uses an algorithm that is too weak", RENEW),
}
"""OpenSSL's reason (its page ``X509_STORE_CTX_get_error``) → what it means, and what to do."""


@dataclass(frozen=True)
class Distrust:
    """Why the certificate of a server is not trusted."""

    reason: str
    remedy: str

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is wrong with it, but that this machine does not know who signed it."""
        return self.remedy in (UNKNOWN, UNLINKED)


def proxy_of(scheme: str, host: str) -> str | None:
    """HOST:PORT of the proxy that the environment names for requests to a host, without its password."""
    from urllib.request import getproxies, proxy_bypass

    if is_this_machine(host) or proxy_bypass(host):
        return None
    named = getproxies()
    proxy = named.get(scheme) or named.get("all")
    # A password may contain whatever separates the parts of an address.
    return proxy and proxy.rpartition("://")[2].rpartition("@")[2].partition("/")[0]


def requires_password(proxy: str) -> str:
    """The message for a proxy that answers with the status 407."""
    return (
        f"the proxy {proxy} of the environment requires a password (HTTP status {NO_PASSWORD}): write HTTP_PROXY "
        "and HTTPS_PROXY as http://USER:PASSWORD@HOST:PORT, or name the server in NO_PROXY"
    )


def permanent(error: BaseException, scheme: str, host: str, port: int, proxy: str | None = None) -> str | None:
    """Why no later attempt to reach the server can succeed, and what to do; None when one may.

    ``error``: of the first request; ``scheme``: "http" or "https", from the worker's command line; ``proxy``: see
    :func:`proxy_of`.
    """
    untrusted = distrust(error, host, port)
    if untrusted is not None:
        return f"its certificate is not trusted here ({untrusted.reason}): {untrusted.remedy}"
    for cause in causes(error):
        if isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN:
            name = host if proxy is None else f"{proxy.rpartition(':')[0] or proxy}, the proxy of the environment"
            return f"there is no host {name} ({cause.strerror}): check the address"
    if proxy is not None:
        # Only the proxy reaches the server.
        return requires_password(proxy) if str(error).startswith(str(NO_PASSWORD)) else None
    if scheme == "https" and any(isinstance(cause, ssl.SSLError) for cause in causes(error)):
        if _speaks_tls(host, port) is False:
            return "it does not speak TLS: write http://, if you trust the network"
    elif scheme == "http" and _speaks_tls(host, port):
        return "it speaks TLS: write https://"
    return None


def distrust(error: BaseException, host: str, port: int) -> Distrust | None:
    """Why the certificate of a server is not trusted; None when that is not what an error is about."""
    for cause in causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason, remedy = WORDS.get(cause.verify_code, (cause.verify_message, RENEW))
            if cause.verify_code in (9, 10):
                here, there = time.time(), _time_at(host, port)
                reason += f"; it is {iso(here)} here and {'an unknown time' if there is None else iso(there)} there"
                if there is not None and abs(here - there) > ANOTHER_CLOCK_SECONDS:
                    remedy = "correct the clock that is wrong"
            return Distrust(reason, remedy)
    return None


def _trusting_all() -> ssl.SSLContext:
    """A context for requests without a token, to look at a server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _time_at(host: str, port: int) -> float | None:
    """Seconds since 1970; None when the server does not tell."""
    from http.client import HTTPException, HTTPSConnection

    server = HTTPSConnection(host, port, timeout=CONNECT_SECONDS, context=_trusting_all())
    with suppress(OSError, HTTPException, TypeError, ValueError), closing(server):
        server.request("HEAD", "/")
        return parsedate_to_datetime(server.getresponse().getheader("Date", "")).timestamp()
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
