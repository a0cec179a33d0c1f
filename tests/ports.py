"""Ports for servers of tests."""

from __future__ import annotations

import socket


def free_port() -> int:
    """A TCP port of this machine on which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
