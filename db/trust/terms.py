"""Terms: what a worker may have.

A worker that opens the ledger itself may have everything, since it could write anything into it anyway.  The task
server, and nobody else, makes terms for the bearer of a token, who may hold only a share of the tasks
(:mod:`db.trust.holding`), each no longer than the tasks warrant.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import inf
from typing import Self

from msgspec.structs import replace

from db.attempts import Delivery
from db.records import AttemptRecord
from db.store.database import Database
from db.store.transaction import Transaction
from db.trust import holding
from db.work import tokens
from db.work.deadlines import Deadlines
from db.work.pruning import Living

SLACK_SECONDS = 3_600.0
"""How much longer than since its grant a result may claim to have been computed: clocks are set."""


@dataclass(frozen=True)
class Terms:
    """A worker without a token may have everything, and its results count as those of its host alone.

    The bearer of a token may have what the others leave.
    """

    digest: str = ""  # the SHA-256 of the token whose voters its workers are; "": no token
    # Digests of the tokens whose workers may have tried to renew in vain; None: anybody may have
    unheard: Collection[str] | None = ()

    @classmethod
    def of(cls, token: str, unheard: Collection[str] | None = ()) -> Self:
        return cls(tokens.digest(token), unheard)

    def admit(self, living: Living, database: Database, worker_id: str) -> Collection[str]:
        """Workers to delete before this one is registered; raises TooManyWorkers."""
        return living.admit(database, worker_id, self.digest) if self.digest else ()

    def longest(self, deadlines: Deadlines, transaction: Transaction) -> float:
        """For how many seconds a task may be held without progress."""
        return deadlines.warranted(transaction, self.digest) if self.digest else inf

    def plausible(self, delivery: Delivery, attempt: AttemptRecord | None) -> Delivery:
        """The delivery, with a computing time that is believed."""
        longest = SLACK_SECONDS + (0.0 if attempt is None else max(0.0, attempt.age)) if self.digest else inf
        return delivery if delivery.seconds <= longest else replace(delivery, seconds=longest)

    def refusals(self, transaction: Transaction) -> float:
        """How many refusals of results may be recorded: each is an event in the ledger."""
        return holding.MAX_FRUITLESS - holding.fruitless(transaction, self.digest) if self.digest else inf

    def note(self, transaction: Transaction, leases: int, brought: int) -> None:
        """Record leases and refused results, and how many results came; raises WrongToken."""
        if self.digest:
            holding.note(transaction, self.digest, leases, brought)


EVERYTHING = Terms()
