"""Terms: what a worker may have.

A worker that opens the ledger itself may have everything, since it could write anything into it anyway.  The task
server, and nobody else, makes :class:`TokenTerms` for the bearer of a token, who may have only what the account of
the token allows (:mod:`db.work.accounts`), and holds a task no longer than the tasks warrant.
"""

from __future__ import annotations

from collections.abc import Collection
from math import inf
from typing import Any

from msgspec.structs import replace

from db.attempts import Delivery
from db.records import AttemptRecord, CampaignRecord
from db.store.database import Database
from db.store.transaction import Transaction
from db.work import accounts, pruning, tokens
from db.work.accounts import Account, Credit
from db.work.deadlines import Deadlines

SLACK_SECONDS = 3_600.0
"""How much longer than since its grant a result may claim to have been computed: clocks are set."""


class Terms:
    """A worker may have everything, and its results count as those of its host alone."""

    digest = ""
    """The SHA-256 of the token whose voters its workers are; "": no token."""
    unheard: Collection[str] | None = ()
    """Digests of the tokens whose workers may have tried to renew in vain; None: anybody may have."""

    def idle_workers(self, database: Database, worker_id: str) -> Collection[str]:
        """Workers to delete before this one is registered; raises TooManyWorkers."""
        return ()

    def longest(self, deadlines: Deadlines, transaction: Transaction) -> float:
        """For how many seconds a task may be held without progress."""
        return inf

    def account(
        self, transaction: Transaction, campaign: CampaignRecord, worker_id: str, found: Any, credit: Credit
    ) -> Account | None:
        """The account from which a worker gets leases; None: without a limit.

        Raises WrongToken when the token was revoked.

        Args:
            found: what :func:`db.trust.enrolment.known` returned.
            credit: for results of the same transaction.
        """
        return None

    def plausible(self, delivery: Delivery, attempt: AttemptRecord | None) -> Delivery:
        """The delivery, with a computing time that is believed."""
        return delivery

    def refusals(self, transaction: Transaction, campaign: CampaignRecord) -> float:
        """How many refusals of results may be recorded: each is an event in the ledger."""
        return inf

    def credit(self, transaction: Transaction, credit: Credit) -> None:
        """Credit the account with results, in a transaction without leases; raises WrongToken."""


class TokenTerms(Terms):
    """The bearer of a token may have what the token's account allows."""

    def __init__(self, token: str, unheard: Collection[str] | None = ()) -> None:
        self.digest, self.unheard = tokens.digest(token), unheard

    def idle_workers(self, database: Database, worker_id: str) -> Collection[str]:
        # Not in the transaction that writes: a worker that is refused must not delay others.
        with database.reading() as connection:
            if pruning.is_known(connection, worker_id):
                return ()
            pruning.require_room(connection, self.digest)
            return pruning.idle(connection, self.digest)

    def longest(self, deadlines: Deadlines, transaction: Transaction) -> float:
        return deadlines.warranted(transaction, self.digest)

    def account(
        self, transaction: Transaction, campaign: CampaignRecord, worker_id: str, found: Any, credit: Credit
    ) -> Account | None:
        account = accounts.of(campaign, self.digest, found).credited(credit)
        return accounts.counted(transaction, account, worker_id, found.now)

    def plausible(self, delivery: Delivery, attempt: AttemptRecord | None) -> Delivery:
        longest = SLACK_SECONDS + (0.0 if attempt is None else max(0.0, attempt.age))
        return delivery if delivery.seconds <= longest else replace(delivery, seconds=longest)

    def refusals(self, transaction: Transaction, campaign: CampaignRecord) -> float:
        return accounts.read(transaction, campaign, self.digest).spare

    def credit(self, transaction: Transaction, credit: Credit) -> None:
        accounts.delivered(transaction, self.digest, credit)


EVERYTHING = Terms()
