"""Nonces: random texts that only the holder of a lease knows; the ledger keeps their SHA-256."""

from __future__ import annotations

import hashlib
import hmac
import secrets


def fresh() -> str:
    """A nonce that nobody can guess."""
    return secrets.token_urlsafe(16)


def digest(nonce: str) -> str:
    """What the ledger keeps of a nonce: its SHA-256 in hexadecimal digits."""
    return hashlib.sha256(nonce.encode()).hexdigest()


def is_genuine(nonce: str, kept: str | None) -> bool:
    """Whether a nonce is the one whose digest was kept, compared in constant time.

    ``kept`` None: an attempt of an earlier version, for which nobody has a nonce.
    """
    return kept is not None and hmac.compare_digest(digest(nonce), kept)
