"""How many leases the workers of a token get: each token of a campaign has an account in the ledger.

- *Room*: as many leases may run at once as PER_PROCESS for each process of its workers that are present, but while
  workers with other tokens are present at most MAX_UNPROVEN and a quarter of the tasks.  Each result allows
  PER_RESULT more.
- *Spare*: leases without a result stay in the ledger for good.  A token may have SPARE of them and two for each
  task; each result pays for PER_RESULT, each hour for SPARE, and each lease that runs for one every RUN_SECONDS,
  since workers that are preempted lose their leases and need new ones.

Workers that open the ledger themselves show no token, and have no account (:mod:`db.trust.terms`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Float, Integer, String, bindparam, case, func, or_, select, update

from db.attempts import Receipt
from db.errors import TooManyLeases, TransactionUndone, WrongToken
from db.records import CampaignRecord
from db.schema.dialects import Now
from db.schema.models import Attempt, Token, Voter, Worker
from db.states import EventKind
from db.store.transaction import CAMPAIGN, Transaction
from db.work import presence, usage
from db.work.transitions import OF_CAMPAIGN, OF_TOKEN, SHOWN
from langford.words import several

PER_PROCESS = 4
"""A process has one task and prefetches the next."""
UNSTATED, MAX_PROCESSES = 4, 1_024
"""How many processes count for a worker that does not state their number, and at most for one that does."""
MAX_UNPROVEN, MIN_UNPROVEN = 1_000, 16
"""Leases without a result, at most, while others are present: a quarter of the tasks, between these bounds."""
SPARE = 10_000
PER_RESULT = 10
"""Leases that a result allows: so nine of ten may end without one."""
PER_TASK = 2
"""Leases of a task that may run at the same time: the first one, and a copy."""
RUN_SECONDS = 300.0
COUNT_SECONDS = 1.0
"""Time between two counts of the leases that run: to count them takes some milliseconds."""


@dataclass(frozen=True)
class Credit:
    """What an account gets for results that arrive."""

    results: int = 0  # how many of them are new, and right as far as is known
    refused: int = 0  # each costs as much as a lease, for its event

    @classmethod
    def of(cls, receipts: Sequence[Receipt], results: int) -> Credit:
        return cls(results, sum(receipt.event is EventKind.REFUSED for receipt in receipts))

    def __bool__(self) -> bool:
        return bool(self.results or self.refused)

    @property
    def columns(self) -> dict[str, int]:
        """The parameters of statements that note it."""
        return {"brought": self.results, "refused": self.refused}

    @property
    def paid(self) -> int:
        """For how many leases they pay."""
        return PER_RESULT * self.results - self.refused


NO_CREDIT = Credit()


@dataclass(frozen=True)
class Account:
    token: str  # its digest
    tasks: int  # of the campaign
    # leases, held, room, results, counted: see db.schema.models.Token
    leases: float
    held: int
    room: int
    results: int
    counted: float | None
    credit: Credit = NO_CREDIT  # of results of this request, which are in ``results``
    paid: float = 0.0  # leases that these results paid for, and time since the last count
    found: Account | None = None  # before the count; None: it was not counted now

    @property
    def earned(self) -> int:
        return PER_RESULT * self.results

    @property
    def spare(self) -> int:
        """How many more leases without a result it may have."""
        return int(SPARE + PER_TASK * self.tasks - max(0.0, self.leases - self.paid))

    def allowed(self, count: int) -> int:
        """How many of ``count`` leases it may have now."""
        return max(0, min(count, self.room + self.earned - self.held, self.spare))

    def credited(self, credit: Credit) -> Account:
        return replace(self, results=self.results + credit.results, credit=credit, paid=float(credit.paid))

    def counted_at(self, now: float, held: int, processes: int, shares: bool) -> Account:
        """The account after a count.

        ``processes``: of its workers that are present; ``shares``: whether workers with other tokens are present.
        """
        room = PER_PROCESS * processes
        if shares:
            room = min(room, max(MIN_UNPROVEN, min(MAX_UNPROVEN, self.tasks // 4)))
        passed = 0.0 if self.counted is None else max(0.0, now - self.counted)
        paid = passed * (SPARE / 3600 + min(held, MAX_UNPROVEN + self.earned) / RUN_SECONDS)
        return replace(self, held=held, room=room, counted=now, paid=self.paid + paid, found=self)

    @property
    def refusal(self) -> TooManyLeases:
        if self.spare <= 0:
            return TooManyLeases(
                f"the workers with this token took {several(round(self.leases - self.paid), 'lease')} more than "
                f"their results allow: deliver results, or wait (each hour grants {several(SPARE, 'lease')}); if "
                "workers are preempted before a task is done, create the campaign with a larger --depth"
            )
        return TooManyLeases(
            f"the workers with this token hold {several(self.held, 'task')} and have delivered "
            f"{several(self.results, 'result')}: they get more tasks once they deliver results, or run more "
            "processes"
        )


_OWN = Token.campaign_id == CAMPAIGN, Token.digest == SHOWN
COLUMNS = Token.leases, Token.held, Token.room, Token.results, Token.counted, Now().label("now")
_ACCOUNT = select(*COLUMNS).where(*_OWN)
_HELD = select(func.count()).select_from(Attempt).where(OF_CAMPAIGN, Attempt.ended.is_(None), OF_TOKEN)
_stated = func.coalesce(Worker.processes, UNSTATED)
_PROCESSES = (
    select(
        func.coalesce(func.sum(case((_stated > MAX_PROCESSES, MAX_PROCESSES), (_stated < 1, 1), else_=_stated)), 0)
    )
    .select_from(Voter)
    .join(Worker, Worker.voter_id == Voter.id)
    .where(Voter.token == SHOWN, or_(presence.IS_PRESENT, Worker.id == bindparam("worker", type_=String)))
)


def _revoked() -> WrongToken:
    return WrongToken("this token was revoked: ask for another one")


def of(campaign: CampaignRecord, token: str, found: Any) -> Account:
    """``found``: a row with COLUMNS; raises WrongToken when there is none, or none of the token in it."""
    if found is None or found.leases is None:  # after the start of this request
        raise _revoked()
    return Account(token, campaign.tasks, found.leases, found.held, found.room, found.results, found.counted)


def read(transaction: Transaction, campaign: CampaignRecord, token: str) -> Account:
    """The account of a token (its digest); raises WrongToken if it was revoked."""
    return of(campaign, token, transaction.execute(_ACCOUNT, shown=token).one_or_none())


def counted(transaction: Transaction, account: Account, worker: str, now: float) -> Account:
    """The account after the leases that run were counted, unless that was done just now and some are left.

    ``worker``: asks for leases, and is present even if its last ones expired.
    """
    last = account.counted
    if last is not None and 0 <= now - last < COUNT_SECONDS and account.allowed(1):
        return account
    shares = any(other != account.token for _, other in presence.voters(transaction))
    held = transaction.scalar(_HELD, shown=account.token)
    processes = transaction.scalar(_PROCESSES, shown=account.token, worker=worker)
    return account.counted_at(now, held, int(processes), shares)


# What others write meanwhile is added up.  The row is locked last: whoever waits for it holds what they need.
_CHANGE = update(Token).where(*_OWN)
_NEW, _MORE, _MOST, _RESULTS = (bindparam(name, type_=Integer) for name in ("new", "more", "most", "brought"))
_PAID, _BEFORE, _NOW = (bindparam(name, type_=Float(53)) for name in ("paid", "before", "now"))
_CREDIT: dict[str, Any] = {
    "results": Token.results + _RESULTS,
    "refused": Token.refused + bindparam("refused", type_=Integer),
    "unpaid": usage.unpaid_after(_RESULTS),
}
_GRANTED = _CHANGE.where(Token.held + _MORE <= _MOST).values(
    leases=usage.left(Token.leases - _PAID) + _NEW, held=Token.held + _MORE, **_CREDIT
)
_COUNTED = _GRANTED.where(Token.counted.is_not_distinct_from(_BEFORE)).values(
    room=bindparam("space", type_=Integer), counted=_NOW
)
_DELIVERED = _CHANGE.values(leases=usage.left(Token.leases - _PAID), **_CREDIT)
NO_LIMIT = 2**31 - 1


def granted(transaction: Transaction, account: Account, leases: int) -> None:
    """Charge leases, and credit the results, of one request; its account is that of :func:`counted`.

    Raises TransactionUndone when another request has counted, or got leases, meanwhile, so that these are too many.
    """
    if not (leases or account.found or account.credit):
        return
    before = account.found or account
    change = {
        "paid": account.paid,
        **account.credit.columns,
        "new": leases,
        "more": account.held - before.held + leases,
        "most": account.room + account.earned if leases else NO_LIMIT,
    }
    if account.found:
        counted = {"before": before.counted, "space": account.room, "now": account.counted}
        changed = transaction.change(_COUNTED, shown=account.token, **change, **counted)
    else:
        changed = transaction.change(_GRANTED, shown=account.token, **change)
    if not changed:
        raise TransactionUndone("another request with this token got leases at the same time: try again")


def delivered(transaction: Transaction, token: str, credit: Credit) -> None:
    """Credit results that came with a token; raises WrongToken if it was revoked."""
    if credit and not transaction.change(_DELIVERED, shown=token, paid=credit.paid, **credit.columns):
        raise _revoked()
