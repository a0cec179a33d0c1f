"""Tokens: who may talk to a server about a campaign; each a function on a connection.

The ledger keeps the SHA-256 of a token only.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from sqlalchemy import Connection, delete, insert

from db import queries
from db.dialects import Now
from db.models import Token
from db.states import Role


def new_token(connection: Connection, campaign_id: int, role: Role) -> str:
    """A fresh token for a campaign."""
    token = secrets.token_urlsafe(32)
    row = {"campaign_id": campaign_id, "role": role, "digest": _digest(token)}
    connection.execute(insert(Token).values(**row, created=Now()))
    return token


def revoke_tokens(connection: Connection, campaign_id: int) -> int:
    """Make all tokens of a campaign worthless; returns how many there were."""
    return connection.execute(delete(Token).where(Token.campaign_id == campaign_id)).rowcount


def role_of(connection: Connection, campaign_id: int, token: str) -> Role | None:
    """What the bearer of a token may do; compares in constant time."""
    digest, role = _digest(token), None
    for known_digest, known_role in queries.tokens(connection, campaign_id):
        if hmac.compare_digest(known_digest, digest):
            role = Role(known_role)
    return role


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
