"""Which tasks a worker that asks gets, and why it gets none."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from db.attempts import Lease, fresh_nonce
from db.errors import LedgerError
from db.records import CampaignRecord
from db.store.transaction import Transaction
from db.trust import complaints, enrolment, holding, reasons, rechecks
from db.trust.holding import Holdings
from db.trust.reasons import Asking
from db.trust.terms import Terms
from db.work import leases, presence, transitions
from db.work.deadlines import Deadlines
from db.work.presence import Presence
from db.work.pruning import Living
from db.work.transitions import Claimant


@dataclass(frozen=True)
class Wanted:
    """What a worker asks for; see :meth:`db.WorkerCampaign.lease`."""

    worker_id: str
    count: int
    seconds: float
    held: Collection[int] | None
    copies: int


class Grants:
    """Grants the tasks of a campaign, and remembers for a moment what it looked up; threads may share it."""

    def __init__(self, record: CampaignRecord, now: Callable[[], float]) -> None:
        """``now``: a monotonic clock, in seconds."""
        self._record = record
        self.deadlines, self.presence = Deadlines(now), Presence(now)
        self.holdings, self.living = Holdings(), Living(now)

    def grant(
        self, transaction: Transaction, terms: Terms, wanted: Wanted, brought: int = 0, refused: int = 0
    ) -> tuple[list[Lease], LedgerError | None]:
        """The leases, and the error to raise after the transaction if there are none for this token.

        The transaction is committed all the same: overdue leases have ended.  Raises UnknownWorker, WrongToken or
        WorkerDistrusted.

        Args:
            terms: of the worker.
            wanted: what it asks for.
            brought, refused: how many of its results were taken, and refused, in this transaction.
        """
        known = enrolment.known(transaction, self._record, wanted.worker_id, terms.digest)
        self.deadlines.cut(transaction.connection)
        if known.overdue:
            ended = transitions.expire(transaction, terms.unheard)
            presence.lose(transaction.connection, set(ended))
        if wanted.held is not None and known.running:
            leases.release_lost(transaction, [int(each) for each in known.running.split()], wanted.held)
        refusal, allowed = None, wanted.count
        if terms.digest:
            refusal, allowed = self._allowed(transaction, terms.digest, known, wanted.count, brought)
        longest = self.deadlines.warranted(transaction, terms.digest)
        seconds = min(wanted.seconds, terms.longest(self.deadlines, transaction))
        claimant = Claimant(wanted.worker_id, known.host, terms.digest, fresh_nonce(), seconds, longest)
        granted = rechecks.claim(transaction, claimant, known, allowed)
        granted += leases.claim(transaction, claimant, allowed - len(granted))
        if not granted:
            complaints.judge_again(transaction)
        granted += leases.copy(transaction, claimant, min(allowed, wanted.copies) - len(granted))
        self.presence.note(transaction.connection, [wanted.worker_id])
        if terms.digest:
            self.holdings.took(terms.digest, len(granted))
        terms.note(transaction, len(granted) + refused, brought)
        return granted, refusal

    def _allowed(
        self, transaction: Transaction, token: str, known: Any, count: int, brought: int
    ) -> tuple[LedgerError | None, int]:
        """How many leases the token may get, and why not even one."""
        room = self.holdings.room(transaction, token, known.now, count)
        many = known.fruitless >= holding.MAX_FRUITLESS and not brought
        is_fruitless = many and holding.is_fruitless(transaction, token)
        ready = room >= 1 or leases.any_ready(transaction)
        refusal = reasons.refusal(Asking(token, token, is_fruitless=is_fruitless, room=room, ready=ready))
        return refusal, 0 if refusal else int(min(count, room))
