"""Who is the same: the bearer of a token, whatever hosts it names; without a token, the machine of the ledger.

A host name that came with a token is a claim.  It makes nobody the same as another: neither the bearers of two
tokens, nor one of them and a worker that opens the ledger itself.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, String, and_, bindparam, or_

from db.schema.models import Voter
from db.states import VoterKind

HOST: ColumnElement[str] = bindparam("host", type_=String)
TOKEN: ColumnElement[str] = bindparam("token", type_=String)


def identity(host: str, token: str) -> str:
    """Equal for two voters that are the same.

    Args:
        host: the name of the machine.
        token: the digest of the token; "": the worker opens the ledger itself.
    """
    return token or f"host {host}"


def is_same(voter: type[Voter]) -> ColumnElement[bool]:
    """Whether a voter is the same as the one with the parameters ``host`` and ``token``."""
    return and_(voter.token == TOKEN, or_(TOKEN != "", voter.host == HOST))


def are_same(one: type[Voter], other: type[Voter]) -> ColumnElement[bool]:
    """Whether two voters are the same; each file that is imported is one of its own."""
    workers = and_(one.kind == VoterKind.WORKER, other.kind == VoterKind.WORKER)
    same = and_(one.token == other.token, or_(one.token != "", one.host == other.host))
    return or_(one.id == other.id, and_(workers, same))
