"""Tokens: the right to use a campaign through a task server.

Every function works on a connection.  The ledger keeps only the SHA-256 of a token.
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
    """Make a fresh token for a campaign; returns it."""
    token = secrets.token_urlsafe(32)
    row = {"campaign_id": campaign_id, "role": role, "digest": _digest(token)}
    connection.execute(insert(Token).values(**row, created=Now()))
    return token


def revoke_tokens(connection: Connection, campaign_id: int) -> int:
    """Delete all tokens of a campaign; returns how many there were."""
    return connection.execute(delete(Token).where(Token.campaign_id == campaign_id)).rowcount


def role_of(connection: Connection, campaign_id: int, token: str) -> Role | None:
    """The role of a token's bearer, compared in constant time; None when the campaign has no such token."""
    digest, role = _digest(token), None
    for known_digest, known_role in queries.tokens(connection, campaign_id):
        if hmac.compare_digest(known_digest, digest):
            role = Role(known_role)
    return role


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
