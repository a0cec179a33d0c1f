"""The connections to the task server: strangers hold few of them, and take none away from workers.

A connection is a stranger's until a request with a valid token has arrived on it.  When strangers hold too many,
the oldest one that is not busy is closed; a new connection, which may be a worker's, is always accepted.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from typing import Protocol

from jobs.farm.guard.shares import Payer

STRANGERS, STRANGERS_PER_ADDRESS = 512, 64
MAX_CONNECTIONS = 60_000


class Connection(Protocol):
    """An open connection.

    Attributes:
        address: its other end, see :func:`network_of`.
        busy: whether a whole request has arrived on it and is not answered yet.
        payer: who is charged for what arrives on it.
    """

    address: str
    payer: Payer

    @property
    def busy(self) -> bool: ...

    def abort(self) -> None: ...


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


class Connections:
    """The open connections of a server; used on its event loop only.

    Attributes:
        most: how many may be open, those of workers among them.
    """

    def __init__(
        self,
        strangers: int = STRANGERS,
        per_address: int = STRANGERS_PER_ADDRESS,
        proxies: Collection[str] = (),
    ) -> None:
        """``per_address``: of strangers; one of the ``proxies`` may hold all their connections."""
        self._most, self._most_per_address, self._proxies = strangers, per_address, frozenset(proxies)
        self.most, self._open = MAX_CONNECTIONS, 0
        # Ordered by their age.
        self._strangers: dict[Connection, None] = {}
        self._by_address: dict[str, dict[Connection, None]] = {}
        self._by_client: dict[tuple[str, int], Connection] = {}

    def opened(self, connection: Connection, client: tuple[str, int] | None = None) -> bool:
        """Returns whether another connection, or this one, was closed for lack of room."""
        self._open += 1
        if client is not None:
            self._by_client[client] = connection
        peers = self._by_address.setdefault(connection.address, {})
        self._strangers[connection] = peers[connection] = None
        crowded = len(peers) > self._most_per_address and connection.address not in self._proxies
        full = self._open > self.most
        crowd = peers if crowded else self._strangers if full or len(self._strangers) > self._most else {}
        for other in crowd:
            if not other.busy:
                self._forget(other)
                other.abort()
                return True
        if full:
            connection.abort()
        return full

    def closed(self, connection: Connection, client: tuple[str, int] | None) -> None:
        self._open -= 1
        self._forget(connection)
        if client is not None:
            self._by_client.pop(client, None)

    def charge(self, client: tuple[str, int], payer: Payer) -> None:
        """Charge a payer for what arrives from this end of a connection from now on."""
        connection = self._by_client.get(client)
        if connection is not None:
            connection.payer = payer

    def mark_authenticated(self, client: tuple[str, int], payer: Payer) -> None:
        """Note that a valid token, which is charged, came on a connection, which is no stranger's any more."""
        self.charge(client, payer)
        connection = self._by_client.get(client)
        if connection is not None:
            self._forget(connection)

    def _forget(self, connection: Connection) -> None:
        self._strangers.pop(connection, None)
        peers = self._by_address.get(connection.address, {})
        peers.pop(connection, None)
        if not peers:
            self._by_address.pop(connection.address, None)
