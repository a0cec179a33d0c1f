"""Deaths of computing processes, until the server knows of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress

from db import Lease
from jobs.farm.worker.client import RemoteCampaign, RequestRefused


class Deaths:
    """Which tasks have ended the processes that evaluated them, oldest first."""

    def __init__(self, server: RemoteCampaign) -> None:
        """``server``: is to know of them."""
        self._server = server
        self._waiting: deque[tuple[Lease, str]] = deque()

    def __bool__(self) -> bool:
        """Whether there are any that the server does not know of."""
        return bool(self._waiting)

    def note(self, lease: Lease, reason: str) -> None:
        """Add one, which :meth:`report` will send."""
        self._waiting.append((lease, reason))

    def report(self) -> Iterator[int]:
        """Tell the server; the tasks that it sets aside.  What does not arrive, for ServerAway, waits."""
        while self._waiting:
            lease, reason = self._waiting[0]
            with suppress(RequestRefused):
                if self._server.die(lease, reason):
                    yield lease.index
            self._waiting.popleft()
