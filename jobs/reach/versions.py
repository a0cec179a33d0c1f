"""The version of the messages between the task server and its clients, and which versions understand each other.

Requests and answers state it in a header; the messages themselves do not.  Versions that are one minor version
apart work together: the newer side sends and accepts what the older one knows.  A change that cannot be made so
needs a new major version.  docs/compatibility.md lists all versions; a test keeps the fields of this one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from db.messages import BadMessage
from langford.errors import LangfordError

HEADER = "Langford-Wire"


class OtherVersion(LangfordError):
    """The messages of a client have a version that the server does not understand."""


@dataclass(frozen=True, order=True)
class WireVersion:
    """A version of the messages."""

    major: int
    minor: int

    @classmethod
    def stated(cls, text: str | None) -> Self:
        """The version in a header; 1.0 without one, as before versions were stated.  Raises BadMessage.

        >>> str(WireVersion.stated("2.10")), str(WireVersion.stated(None))
        ('2.10', '1.0')
        """
        found = re.fullmatch(r"([0-9]{1,4})\.([0-9]{1,4})", "1.0" if text is None else text)
        if found is None:
            raise BadMessage(f"{HEADER}: expected a version like {SPOKEN}, got {text!r:.40}")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


SPOKEN = WireVersion(1, 1)
"""The version that this program speaks."""


def disagreement(client: WireVersion, server: WireVersion) -> str | None:
    """Why a client and a server do not understand each other, which is the older one, and what to do.

    None: they are at most one minor version apart.

    >>> disagreement(WireVersion(1, 1), WireVersion(1, 2))
    >>> disagreement(WireVersion(1, 0), WireVersion(1, 2)).partition(":")[0]
    'the client is older than the server (messages 1.0 and 1.2)'
    """
    if client.major == server.major and abs(client.minor - server.minor) <= 1:
        return None
    if client < server:
        return (
            f"the client is older than the server (messages {client} and {server}): install the server's version "
            "of langford for the client"
        )
    return (
        f"the server is older than the client (messages {server} and {client}): upgrade langford on the server, or "
        "use the server's version for the client"
    )


def require_understood(stated: str | None) -> None:
    """Raises OtherVersion for a client that states a version which this program does not understand, or BadMessage.

    ``stated``: what the client states; None: nothing.
    """
    reason = disagreement(WireVersion.stated(stated), SPOKEN)
    if reason is not None:
        raise OtherVersion(reason)
