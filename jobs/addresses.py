"""Addresses as users write them, and which hosts are this machine: what is sent there crosses no network."""

from __future__ import annotations

import ipaddress
import re

LOCAL_NAMES = {"localhost", "ip6-localhost", "ip6-loopback"}
SCHEMES = ("http://", "https://")
WITHOUT_SCHEME = re.compile(r"([\w.-]+|\[[0-9a-f:.]+\]):\d{1,5}(/.*)?", re.ASCII | re.IGNORECASE)


def is_this_machine(host: str) -> bool:
    """Whether what is sent to a host never leaves this machine.

    >>> is_this_machine("::ffff:127.0.0.1"), is_this_machine("ip6-localhost"), is_this_machine("farm")
    (True, True, False)
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.lower() in LOCAL_NAMES
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def has_scheme(text: str) -> bool:
    """Whether a text is the address of a server, in capitals or small letters, and no name or file.

    >>> has_scheme("HTTP://farm:8765"), has_scheme("langford-24-polyphase-12")
    (True, False)
    """
    return text.lower().startswith(SCHEMES)


def lacks_scheme(text: str) -> bool:
    """Whether a text would be the address of a server with http:// before it: a host, a port, and maybe a path.

    >>> lacks_scheme("farm:8765/l24"), lacks_scheme("http://farm:8765/l24")
    (True, False)
    """
    return WITHOUT_SCHEME.fullmatch(text) is not None


def without_brackets(host: str) -> str:
    """A host; an IPv6 address in the brackets that it has in an address of a server is taken out of them.

    >>> without_brackets("[::1]"), without_brackets("farm")
    ('::1', 'farm')
    """
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host
