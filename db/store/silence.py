"""A database that keeps a connection and does not answer, as when its processes are stopped: people are told."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator
from typing import Any

LOGGER = logging.getLogger("langford.ledger")
SILENT_SECONDS = 30.0
"""How long a statement may take before people are told that it has no answer."""
Answer = Generator[Any, Any, Any]
"""An answer that the driver waits for: it is resumed with nothing after each interval without news."""


class Silence:
    """That of one database: said once, until no answer is late any more; a lost connection has none."""

    def __init__(self, where: str) -> None:
        """
        Args:
            where: its address without passwords.
        """
        self._where = where
        self._late = set[int]()

    def watching(self, wait: Callable[..., Any]) -> Callable[..., Any]:
        """How a connection waits, which takes an answer first and other arguments."""
        return lambda answer, *how, **more: wait(self._watched(answer), *how, **more)

    def _watched(self, answer: Answer) -> Answer:
        began, since = time.monotonic(), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        try:
            wanted = next(answer)
            while True:
                news = yield wanted
                if not news and time.monotonic() - began > SILENT_SECONDS:
                    if not self._late:
                        LOGGER.warning("no answer from the ledger %s since %s; still waiting", self._where, since)
                    self._late.add(id(answer))
                wanted = answer.send(news)
        except StopIteration as end:
            if self._late == {id(answer)}:
                LOGGER.warning("the ledger %s has answered", self._where)
            return end.value
        finally:
            self._late.discard(id(answer))
