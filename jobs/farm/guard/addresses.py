"""Addresses of clients: of whom a limit holds."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection


def network_of(host: str) -> str:
    """The address by which a host is limited: its own, or the /64 network of an IPv6 host.

    >>> network_of("192.0.2.1"), network_of("2001:db8::1:2"), network_of("")
    ('192.0.2.1', '2001:db8::/64', '')
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        return str(address.ipv4_mapped or ipaddress.ip_network(f"{address}/64", strict=False))
    return host


def address_of(host: str, forwarded_for: str, proxies: Collection[str]) -> str:
    """The address of a client: that of ``host``, or the one that a proxy at ``host`` names.

    Args:
        host: the other end of the connection.
        forwarded_for: the header X-Forwarded-For of the request.
        proxies: those before the server, which are believed.

    >>> address_of("10.0.0.1", "192.0.2.9, 192.0.2.7", {"10.0.0.1"}), address_of("192.0.2.1", "192.0.2.9", set())
    ('192.0.2.7', '192.0.2.1')
    """
    for said in reversed(forwarded_for.split(",")[-len(proxies) - 1 :]):
        if host not in proxies:
            break
        try:
            host = str(ipaddress.ip_address(said.strip()))
        except ValueError:
            break
    return network_of(host)
