"""How many tasks the workers of one token may hold: an equal share of the tasks that are left.

The tokens whose workers are present share; alone, a token may hold all.  What another token could not use, by the
processes that its workers state, is left to those that ask: to state more than one has buys no more than a share.
Leases that run cost nothing.  But a token whose last MAX_FRUITLESS leases brought nothing waits for a result:
leases stay in the ledger for good.

Workers that open the ledger themselves have no limit; together they share as one token.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import inf

from sqlalchemy import Integer, bindparam, case, func, select, union_all, update

from db.errors import WrongToken
from db.schema.models import Attempt, Task, Token, Voter, Worker
from db.states import TaskState
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import waiting
from db.work import presence
from db.work.transitions import OF_CAMPAIGN, OF_TOKEN, SHOWN

PER_PROCESS = 4
"""Tasks that a process can use: it computes one, and prefetches."""
MAX_FRUITLESS = 10_000
MAX_AT_ONCE = 1_000
"""Leases for which a token is found to have room at once."""
COUNT_SECONDS = 2.0
"""Time between two counts of what the tokens of a campaign hold: it reads all leases that run."""


def room(left: int, held: int, others: Collection[float]) -> int:
    """How many more tasks a token may hold.

    Args:
        left: tasks that are left, held or not.
        held: how many of them it holds.
        others: for each other token whose workers are present, how many tasks these can use.
    """
    share = left // (len(others) + 1)
    return max(0, left - held - sum(min(share, int(min(use, left))) for use in others))


_HELD = select(func.count()).select_from(Attempt).where(OF_CAMPAIGN, Attempt.ended.is_(None), OF_TOKEN)
_HELD_BY_EACH = (
    select(Voter.token, func.count().label("number"))
    .join(Worker, Worker.voter_id == Voter.id)
    .join(Attempt, Attempt.worker_id == Worker.id)
    .where(OF_CAMPAIGN, Attempt.ended.is_(None))
    .group_by(Voter.token)
)
_MOST = bindparam("most", type_=Integer)
_UNFINISHED = select(Task.task_index).where(
    Task.campaign_id == CAMPAIGN, Task.state.in_([TaskState.READY, TaskState.LEASED])
)
_LEFT = select(func.count()).select_from(
    union_all(
        *(
            select(query.limit(_MOST).subquery().c.task_index)
            for query in (_UNFINISHED, waiting.DRAWN, waiting.DOUBTED, waiting.SUSPECT)
        )
    ).subquery()
)


def held(transaction: Transaction, token: str) -> int:
    """How many leases of a token (its digest) run."""
    return int(transaction.scalar(_HELD, shown=token))


@dataclass(frozen=True)
class HeldByTokens:
    """What the tokens of a campaign can use and hold, by their digests, and how many tasks are left."""

    uses: Mapping[str, float]
    held: Mapping[str, int]
    left: int

    def room(self, token: str) -> float:
        """How many more tasks the workers of a token may hold, or MAX_AT_ONCE of them."""
        others = [use for of, use in self.uses.items() if of != token]
        return room(self.left, self.held.get(token, 0), others) if others else inf


def counted(transaction: Transaction) -> HeldByTokens:
    processes = presence.processes(transaction)
    uses = {token: inf if number is None else PER_PROCESS * number for token, number in processes.items()}
    held = {row.token: row.number for row in transaction.execute(_HELD_BY_EACH)}
    most = (len(uses) + 1) * (max(held.values(), default=0) + MAX_AT_ONCE)  # more leave each that room in any case
    return HeldByTokens(uses, held, int(transaction.scalar(_LEFT, most=most)))


class Holdings:
    """The room of each token of a campaign, as of the last count and the leases since; threads may share it."""

    def __init__(self) -> None:
        self._counted, self._when, self._taken = HeldByTokens({}, {}, 0), -inf, Counter[str]()
        self._is_current = True

    def room(self, transaction: Transaction, token: str, now: float, count: int) -> float:
        """How many tasks the workers of a token may lease now, if they ask for ``count``; see :func:`room`.

        Args:
            now: the time by the database's clock.
        """
        left = self._counted.room(token) - self._taken[token]
        # Whoever asks in vain again and again, as many do when all tasks are held, costs no count.
        if not 0 <= now - self._when < COUNT_SECONDS or (left < count and not self._is_current):
            self._is_current = True
            self._counted, self._when, self._taken = counted(transaction), now, Counter()
            left = self._counted.room(token)
        return left

    def took(self, token: str, leases: int) -> None:
        self._taken[token] += leases
        self._is_current = self._is_current and not leases

    def ended(self) -> None:
        """Note that attempts ended in a transaction: there may be more room."""
        self._is_current = False


_OWN = Token.campaign_id == CAMPAIGN, Token.digest == SHOWN
FRUITLESS = Token.fruitless
_NEW, _BROUGHT = (bindparam(name, type_=Integer) for name in ("new", "brought"))
_NOTE = update(Token).where(*_OWN).values(fruitless=case((_BROUGHT > 0, 0), else_=Token.fruitless) + _NEW)
_READ = select(Token.fruitless).where(*_OWN)


def note(transaction: Transaction, token: str, leases: int, brought: int) -> None:
    """Record leases and refused results of a token, and results; raises WrongToken if it was revoked meanwhile.

    The row is locked last: whoever waits for it holds what they need.
    """
    if (leases or brought) and not transaction.change(_NOTE, shown=token, new=leases, brought=brought):
        raise revoked()


def fruitless(transaction: Transaction, token: str) -> int:
    """How many leases and refused results of a token came since its last result; raises WrongToken."""
    found = transaction.scalar(_READ, shown=token)
    if found is None:
        raise revoked()
    return int(found)


def is_fruitless(transaction: Transaction, token: str) -> bool:
    """Whether a token waits for a result: of its leases since the last one, those that run cost nothing."""
    return fruitless(transaction, token) - held(transaction, token) >= MAX_FRUITLESS


def revoked() -> WrongToken:
    return WrongToken("this token was revoked: ask for another one")
