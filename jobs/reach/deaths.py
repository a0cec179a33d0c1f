"""Deaths of computing processes that the server has not been notified of."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress

from db import Lease
from jobs.reach.remote import RemoteCampaign, RequestRefused


class Deaths:
    """The tasks whose processes died while they evaluated them, oldest first."""

    def __init__(self, server: RemoteCampaign) -> None:
        """``server``: is notified of the deaths."""
        self._server = server
        self._waiting: deque[tuple[Lease, str]] = deque()

    def __bool__(self) -> bool:
        """Whether there are deaths that the server does not know of."""
        return bool(self._waiting)

    def note(self, lease: Lease, reason: str) -> None:
        """Add a death, which :meth:`report` will send."""
        self._waiting.append((lease, reason))

    def report(self) -> Iterator[int]:
        """Notify the server; yields the tasks that it sets aside.

        Raises ServerAway; deaths that did not arrive wait for the next call.
        """
        while self._waiting:
            lease, reason = self._waiting[0]
            with suppress(RequestRefused):
                if self._server.die(lease, reason):
                    yield lease.index
            self._waiting.popleft()
