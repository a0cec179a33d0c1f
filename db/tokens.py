"""Tokens: who may talk to a server about a campaign."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from sqlalchemy import delete, insert

from db import queries
from db.clock import Now
from db.models import Token
from db.opened import OpenLedger
from db.records import CampaignRecord
from db.states import Role


class TokenRegister(OpenLedger):
    """The tokens of a ledger's campaigns; it keeps their SHA-256 only."""

    def new_token(self, campaign: CampaignRecord, role: Role) -> str:
        """A fresh token for a campaign; the ledger keeps its SHA-256 only."""
        token = secrets.token_urlsafe(32)
        with self._writing() as connection:
            connection.execute(
                insert(Token).values(campaign_id=campaign.id, role=role, digest=_digest(token), created=Now())
            )
        return token

    def revoke_tokens(self, campaign: CampaignRecord) -> int:
        """Make all tokens of a campaign worthless; returns how many there were."""
        with self._writing() as connection:
            return connection.execute(delete(Token).where(Token.campaign_id == campaign.id)).rowcount

    def role_of(self, campaign: CampaignRecord, token: str) -> Role | None:
        """What the bearer of a token may do; compares in constant time."""
        with self._reading() as connection:
            known = queries.tokens(connection, campaign.id)
        digest, found = _digest(token), None
        for each, role in known:
            if hmac.compare_digest(each, digest):
                found = Role(role)
        return found


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
