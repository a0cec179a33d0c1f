"""Nonces: random texts that only the holder of a lease knows; the ledger keeps their SHA-256."""

from __future__ import annotations

import hashlib
import hmac
import secrets


def fresh() -> str:
    return secrets.token_urlsafe(16)


def digest(nonce: str) -> str:
    """What the ledger keeps of a nonce."""
    return hashlib.sha256(nonce.encode()).hexdigest()


def is_genuine(nonce: str, kept: str | None) -> bool:
    """Whether a nonce has the digest that the ledger keeps, compared in constant time.

    ``kept``: None for an attempt of an earlier version, which has no nonce.
    """
    return kept is not None and hmac.compare_digest(digest(nonce), kept)
