"""Writes into the ledger what the requests with each token cost, in a thread: no request waits for it."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress

from db import Ledger
from db.errors import LedgerError
from jobs.clock import SYSTEM, Clock, repeated
from jobs.farm.guard.charges import Charges

EVERY_SECONDS = 5.0
"""Time between two transactions; an idle server makes none."""


class Usage:
    """What was charged, on its way into the ledger."""

    def __init__(self, ledger: Ledger, charges: Charges) -> None:
        self._ledger, self._charges, self._waiting = ledger, charges, dict[str, float]()

    def write(self) -> None:
        """Raises LedgerError; the next call writes what this one could not."""
        for token, seconds in self._charges.taken().items():
            self._waiting[token] = self._waiting.get(token, 0.0) + seconds
        self._ledger.charge(self._waiting)
        self._waiting = {}


def written(ledger: Ledger, charges: Charges, clock: Clock = SYSTEM) -> AbstractContextManager[None]:
    """Write what is charged while the block runs."""
    usage = Usage(ledger, charges)

    def write() -> None:
        with suppress(LedgerError):  # the requests and the reporter say that the ledger does not answer
            usage.write()

    return repeated(write, EVERY_SECONDS, "usage", clock, write)
