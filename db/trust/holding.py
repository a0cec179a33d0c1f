"""How many tasks the workers of one token may hold: an equal share of the tasks that are left.

The tokens whose workers are present share; alone, a token may hold all.  What another token could not use, by the
processes that its workers state, is left to those that ask: to state more than one has buys no more than a share.
Leases that run cost nothing.  But a token whose last MAX_FRUITLESS leases brought nothing waits for a result:
leases stay in the ledger for good.

Workers that open the ledger themselves have no limit; together they share as one token.
"""

from __future__ import annotations

from collections.abc import Collection
from math import inf

from sqlalchemy import Integer, bindparam, case, func, select, union_all, update

from db.errors import WrongToken
from db.schema.models import Attempt, Task, Token
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
COUNT_SECONDS = 1.0
"""Time between two counts of what a token holds, while it has room for what it asks."""


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


class Holdings:
    """The room of each token of a campaign, as of the last count."""

    def __init__(self) -> None:
        # By the digest of a token: when its room was counted, by the database's clock, and what is left of it.
        self._rooms: dict[str, tuple[float, float]] = {}

    def room(self, transaction: Transaction, token: str, now: float, count: int) -> float:
        """How many tasks the workers of a token may lease now, if they ask for ``count``; see :func:`room`."""
        counted, left = self._rooms.get(token, (-inf, 0.0))
        if left < count or not 0 <= now - counted < COUNT_SECONDS:
            left = room_of(transaction, token)
            self._rooms[token] = now, left
        return left

    def took(self, token: str, leases: int) -> None:
        counted, left = self._rooms[token]
        self._rooms[token] = counted, left - leases


def room_of(transaction: Transaction, token: str) -> float:
    """How many more tasks the workers of a token (its digest) may hold, or MAX_AT_ONCE of them."""
    present = presence.processes(transaction)
    others = [inf if number is None else PER_PROCESS * number for of, number in present.items() if of != token]
    if not others:
        return inf
    mine = held(transaction, token)
    most = (len(others) + 1) * (mine + MAX_AT_ONCE)  # more would leave room for MAX_AT_ONCE in any case
    return room(int(transaction.scalar(_LEFT, most=most)), mine, others)


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
