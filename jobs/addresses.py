"""Addresses of task servers as users write them, and which hosts are this machine."""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

from langford.errors import BadInput

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
    """Whether a text is the address of a server, in upper or lower case, rather than a name or a file.

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


def server_parts(url: str) -> SplitResult:
    """The parts of the address of a task server, or of a campaign on it; raises BadInput."""
    if "@" in url:  # what is before it may be a password, and is not shown
        raise BadInput(
            "the address of a task server has no user, password or @: leave them out; the token has a line of its "
            "own in the join file"
        )
    if lacks_scheme(url):
        raise BadInput(f"{url!r} does not say how to talk to the server: write https://{url}, or http://{url}")
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 -- raises ValueError
        url.encode("ascii")
    except ValueError as error:
        raise BadInput(f"{url!r} is not an address ({error}): write http://HOST:PORT/CAMPAIGN") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or "//" in parts.path:
        raise BadInput(f"{url!r} is not the address of a campaign: write http://HOST:PORT/CAMPAIGN")
    return parts


def without_brackets(host: str) -> str:
    """A host, without the brackets that an IPv6 address has in the address of a server.

    >>> without_brackets("[::1]"), without_brackets("farm")
    ('::1', 'farm')
    """
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def in_address(host: str) -> str:
    """A host as an address has it.

    >>> in_address("::1"), in_address("farm")
    ('[::1]', 'farm')
    """
    with suppress(ValueError):
        return f"[{host}]" if ipaddress.ip_address(host).version == 6 else host
    return host
