"""Tokens: the right to use a campaign through a task server.  The ledger keeps only the SHA-256 of a token."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    ScalarSelect,
    String,
    bindparam,
    case,
    delete,
    func,
    insert,
    select,
    true,
    update,
)

from db import attempts
from db.records import Right, TokenRecord
from db.schema.dialects import Now, among
from db.schema.models import Attempt, Campaign, Token, Voter, Worker
from db.states import COMPLAINTS, Outcome, Role
from db.store import statements
from db.store.database import Database, retried
from db.store.transaction import CAMPAIGN, Transaction
from db.work import transitions

MAX_LABEL = 100


def new_token(transaction: Transaction, role: Role, seconds: float | None = None, label: str = "") -> str:
    """``seconds``: validity; None: until it is revoked.  ``label`` is cut to MAX_LABEL characters."""
    token = secrets.token_urlsafe(32)
    row = {
        "campaign_id": transaction.campaign_id,
        "role": role,
        "digest": digest(token),
        "label": label[:MAX_LABEL],
    }
    expires = None if seconds is None else Now() + seconds
    transaction.connection.execute(insert(Token).values(**row, created=Now(), expires=expires))
    return token


def extend(transaction: Transaction, token: str, seconds: float) -> bool:
    """See :meth:`db.Campaign.extend`."""
    end = Now() + seconds
    expires = case((Token.expires < end, end), else_=Token.expires)  # of one without an end it stays unknown
    mine = Token.campaign_id == CAMPAIGN, Token.digest == digest(token)
    return transaction.execute(update(Token).where(*mine).values(expires=expires)).rowcount > 0


def revoke(transaction: Transaction, token: int | str | None) -> Sequence[str]:
    """See :meth:`db.Campaign.revoke`; returns the digests of the tokens that were deleted."""
    chosen: ColumnElement[bool] = true()
    if isinstance(token, int):
        chosen = Token.id == token
    elif token is not None:
        chosen = Token.digest == digest(token)
    digests = transaction.scalars(select(Token.digest).where(Token.campaign_id == CAMPAIGN, chosen)).all()
    for shown in digests:
        transitions.end(transaction, transitions.OF_TOKEN, Outcome.RELEASED, "its token was revoked", shown=shown)
    transaction.execute(delete(Token).where(Token.campaign_id == CAMPAIGN, chosen))
    return digests


_WORKERS = (
    select(func.count())
    .select_from(Worker)
    .join(Voter, Voter.id == Worker.voter_id)
    .where(Voter.token == Token.digest)
    .correlate(Token)
    .scalar_subquery()
)


def _attempts(*conditions: ColumnElement[bool]) -> ScalarSelect[int]:
    """How many attempts of the workers with a token meet some conditions."""
    return (
        select(func.count())
        .select_from(Attempt)
        .join(Worker, Worker.id == Attempt.worker_id)
        .join(Voter, Voter.id == Worker.voter_id)
        .where(Attempt.campaign_id == Token.campaign_id, Voter.token == Token.digest, *conditions)
        .correlate(Token)
        .scalar_subquery()
    )


_LISTED = (
    select(
        *(Token.id, Token.role, Token.label, Token.created, Token.expires),
        Token.used,
    )
    .where(Token.campaign_id == CAMPAIGN)
    .order_by(Token.id)
)
_USED = _LISTED.add_columns(
    _WORKERS.label("workers"),
    _attempts(Attempt.ended.is_(None)).label("running"),
    _attempts().label("granted"),
    _attempts(Attempt.outcome.in_([Outcome.DONE, Outcome.SUPERSEDED])).label("results"),
    _attempts(Attempt.outcome.in_(COMPLAINTS)).label("failures"),
)


def listed(transaction: Transaction, used: bool) -> list[TokenRecord]:
    """Oldest first, including expired ones.

    ``used``: also what the workers of each did, which takes the right to read the hashes of tokens.
    """
    rows = transaction.execute(_USED if used else _LISTED).all()
    together = sum(row.used for row in rows) or 1.0
    return [
        TokenRecord(
            row.id,
            Role(row.role),
            row.label,
            row.created,
            row.expires,
            used=row.used,
            share=row.used / together,
            workers=row.workers if used else None,
            held=row.running if used else None,
            leases=row.granted if used else None,
            results=row.results if used else None,
            failures=row.failures if used else None,
        )
        for row in rows
    ]


_SECONDS, _DIGEST = bindparam("seconds", type_=Float(53)), bindparam("shown", type_=String(64))
_CHARGE = update(Token).where(Token.digest == _DIGEST).values(used=Token.used + _SECONDS)


@retried
def charge(database: Database, used: Mapping[str, float]) -> None:
    """Add what requests took since the last call, in seconds of processor time, by the digests of their tokens."""
    # In the same order everywhere: two servers of a ledger never wait for each other.
    rows = [{"shown": token, "seconds": seconds} for token, seconds in sorted(used.items())]
    if rows:
        with database.writing() as connection:
            connection.execute(_CHARGE, rows)


# Looked up by their digests: the time of a query can reveal at most the start of a hash, and nothing of a token.
_RIGHTS = (
    select(Campaign.uuid, Token.role, Token.digest, Token.id)
    .join(Campaign, Campaign.id == Token.campaign_id)
    .where(among(Token.digest, "digests"), Token.expires.is_(None) | (Token.expires > Now()))
)


def rights(connection: Connection, shown: Collection[str]) -> list[Right]:
    """What the bearer of some tokens may do, in all campaigns of the ledger, by a single query.

    An expired token gives no right.
    """
    tokens = {digest(token): token for token in shown if token}
    rows = statements.rows(connection, _RIGHTS, {"digests": sorted(tokens)})
    return [Right(row.uuid, Role(row.role), tokens[row.digest], row.id) for row in rows]


def digest(token: str) -> str:
    """The SHA-256 of a token in hexadecimal digits: what the ledger keeps of it; "" for no token."""
    return attempts.digest(token) if token else ""
