"""Ports for servers of tests."""

from __future__ import annotations

import os
import socket
from itertools import cycle, islice

FIRST, SHARE, SHARES = 12_000, 500, 28
"""Below the ports that a system gives to outgoing connections: one of those could take the port of a server that
is away for a moment.  Each test process has a share, so no two get the same port."""


def _number_of_this_process() -> int:
    """Of the test processes that run at once (pytest-xdist calls them gw0, gw1, ...)."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


_share = FIRST + SHARE * (_number_of_this_process() % SHARES)
# From somewhere on: another run of the tests on this machine has the same share.
_ports = islice(cycle(range(_share, _share + SHARE)), os.getpid() % SHARE, None)


def free_port() -> int:
    """A TCP port of this machine on which nobody listens, and which no other test gets soon."""
    for port in islice(_ports, SHARE):
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError(f"somebody listens on each of the ports from {_share} to {_share + SHARE - 1}")
