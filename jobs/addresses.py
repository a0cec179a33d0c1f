"""Which hosts are this machine: what is sent there crosses no network."""

from __future__ import annotations

import ipaddress


def is_this_machine(host: str) -> bool:
    """Whether what is sent to a host never leaves this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
