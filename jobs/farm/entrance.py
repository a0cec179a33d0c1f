"""Where workers reach a server, and whom they have to trust: what a join file says."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from jobs.addresses import has_scheme, in_address, is_this_machine, server_parts
from jobs.farm.certificate import certificates_of, names_in, own_certificate

OWN_CERTIFICATE = "langford-server.pem"


@dataclass(frozen=True)
class Entrance:
    """How a server is reached.

    Attributes:
        addresses: http(s)://HOST:PORT, or of a proxy with its path; the best one first.
        certificate: the file of the server's chain; None: it has no TLS.
        trusted: the certificates that workers trust, PEM; empty: those of their system, or no TLS.
    """

    addresses: Sequence[str]
    certificate: Path | None
    trusted: str


def entrance(
    listener: socket.socket,
    host: str,
    reached_as: Sequence[str],
    certificate: Path | None,
    insecure: bool,
    folder: Path,
) -> Entrance:
    """How workers reach a socket.

    A server that is reached from other machines, has no certificate and is not to be insecure makes one.

    Args:
        listener: it listens.
        host: on which, as the operator wrote it.
        reached_as: names or addresses that replace those of this machine.
        certificate: the operator's; None: none.
        insecure: whether there is no TLS beyond this machine.
        folder: for a certificate that is made.

    Raises as :func:`jobs.farm.certificate.own_certificate`.
    """
    at, port = listener.getsockname()[:2]
    everywhere = ipaddress.ip_address(at).is_unspecified
    own = names_of_this_machine() if everywhere else [host]
    trusted = ""
    if certificate is not None:
        own = _usable(names_in(certificate), is_this_machine(at)) or own
        trusted = certificates_of(certificate)
    hosts = reached_as or own
    if certificate is None and not insecure and not is_this_machine(at):
        certificate = folder / OWN_CERTIFICATE
        named = [server_parts(name).hostname or "" if has_scheme(name) else name for name in hosts]
        trusted = own_certificate(certificate, [*dict.fromkeys([*named, *own, "localhost", "127.0.0.1"])])
    scheme = "http" if certificate is None else "https"
    addresses = [
        name.rstrip("/") if has_scheme(name) else f"{scheme}://{in_address(name)}:{port}" for name in hosts
    ]
    return Entrance(addresses, certificate, trusted)


def _usable(names: list[str], is_here: bool) -> list[str]:
    """Of the names in a certificate those that lead to the server; ``is_here``: it listens to this machine only."""
    return [name for name in names if is_this_machine(name) == is_here] or names


def names_of_this_machine() -> list[str]:
    """The names and addresses under which other machines may know it; that of itself, if it has no other."""
    names = [socket.getfqdn(), socket.gethostname()]
    for name in dict.fromkeys(names):
        with suppress(OSError):
            names += [str(found[4][0]) for found in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]
    return [name for name in dict.fromkeys(names) if name and not is_this_machine(name)] or ["localhost"]
