"""What the requests with each token cost the task server: its processor time, which results and time pay for.

The server keeps the charges in memory, and writes them a few times a minute.  A token whose unpaid time grows costs
much and brings little: :mod:`db.look.overview.warnings` names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Float, String, bindparam, case, func, update

from db.schema.dialects import Now
from db.schema.models import Token
from db.store.database import Database, retried

RESULT_SECONDS = 0.2
"""Seconds that a result pays for: with its lease and the renewals it takes a tenth of them, or less."""
FREE_SHARE = 0.1
"""Share of a core that is free: a thousand workers that only renew their leases, or wait, use less."""

_SECONDS, _SHOWN = bindparam("seconds", type_=Float(53)), bindparam("shown", type_=String(64))


def left(unpaid: Any) -> Any:
    """What is left to pay, at least 0: nothing is saved up for later."""
    return case((unpaid > 0, unpaid), else_=0.0)


unpaid_now = left(Token.unpaid - FREE_SHARE * (Now() - func.coalesce(Token.charged, Now())))
"""The seconds of a token that neither results nor time have paid for by now."""
_CHARGE = (
    update(Token)
    .where(Token.digest == _SHOWN)
    .values(used=Token.used + _SECONDS, unpaid=unpaid_now + _SECONDS, charged=Now())
)


def unpaid_after(results: Any) -> Any:
    """The unpaid seconds of a token once a number of new results has paid for some."""
    return left(Token.unpaid - RESULT_SECONDS * results)


@retried
def charge(database: Database, used: Mapping[str, float]) -> None:
    """Add what requests took since the last call, in seconds of processor time, by the digests of their tokens."""
    # In the same order everywhere: two servers of a ledger never wait for each other.
    rows = [{"shown": token, "seconds": seconds} for token, seconds in sorted(used.items())]
    if rows:
        with database.writing() as connection:
            connection.execute(_CHARGE, rows)
