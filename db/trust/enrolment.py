"""Enrolment: a worker gets its voter, which is responsible for its results, by host, token, device and kernels.

Whoever asks for tasks must have enrolled, and its voter must be trusted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Insert, Row, String, bindparam, insert, select

from db.errors import LedgerError
from db.identity import Identity
from db.records import CampaignRecord
from db.schema.dialects import Now, Purpose, alone, insert_new
from db.schema.models import Campaign, Token, Voter, Worker
from db.states import Ending, VoterKind
from db.store import statements
from db.store.database import Database, retried
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import holding, reasons, waiting
from db.trust.reasons import Asking
from db.trust.terms import Terms
from db.work import catalogue, holders, presence, pruning, transitions
from db.work.transitions import SHOWN

_TOKEN_OF = select(Voter.token).join(Worker, Worker.voter_id == Voter.id).where(Worker.id == bindparam("worker"))


@retried
def leave(database: Database, terms: Terms, worker_id: str, ending: Ending) -> None:
    """See :meth:`db.WorkerCampaign.leave`."""
    with database.writing() as connection:
        _require_token(connection.scalar(_TOKEN_OF, {"worker": worker_id}), terms.digest)
        presence.leave(connection, worker_id, ending)


def enrol(connection: Connection, identity: Identity, token: str, idle: Collection[str]) -> None:
    """Store a worker, unless it has enrolled before; raises WrongToken.

    Args:
        token: the digest of its token.
        idle: workers that make room for it (:meth:`db.trust.terms.Terms.admit`).
    """
    pruning.prune(connection, idle)
    who = identity.worker_id, identity.host, identity.process, identity.device_kind, identity.kernels
    insert_worker(connection, *who, token=token, **identity.machine.equipment)


_NEW_VOTER = insert(Voter).returning(Voter.id)


@cache
def _new_worker(dialect: str) -> Insert:
    made: Insert = insert_new(dialect, Worker).values(started=Now(), last_seen=Now())
    return made


def insert_worker(
    connection: Connection,
    worker_id: str,
    host: str,
    process: str,
    device_kind: str = "cpu",
    kernels: str | None = None,
    token: str = "",
    kind: VoterKind = VoterKind.WORKER,
    **equipment: Any,
) -> None:
    """Store a worker with its voter, unless it has enrolled before.

    ``token`` is the digest; ``equipment``: see :attr:`db.machines.Machine.equipment`, what is missing is unknown.
    Raises WrongToken.
    """
    known = statements.rows(connection, _TOKEN_OF, {"worker": worker_id})
    if known:
        _require_token(known[0].token, token)
        return
    identity = {"kind": kind, "host": host, "token": token, "device_kind": device_kind, "kernels": kernels or ""}
    voter_id = None if kind is VoterKind.IMPORT else _trusted_voter(connection, identity)
    if voter_id is None:
        voter_id = connection.execute(_NEW_VOTER, identity).scalar_one()
    own = {"id": worker_id, "host": host, "process": process, "device_kind": device_kind, "kernels": kernels}
    connection.execute(_new_worker(connection.dialect.name), {**own, "voter_id": voter_id, **equipment})


def _require_token(enrolled: str | None, shown: str) -> None:
    """Raises UnknownWorker, or WrongToken when a worker shows another token than the one with which it enrolled."""
    _raise(reasons.refusal(Asking(enrolled, shown)))


def _raise(refusal: LedgerError | None) -> None:
    if refusal is not None:
        raise refusal


_CLAIMANT = (
    select(
        Campaign.uuid,
        waiting.MAY_WAIT.label("may_wait"),
        Voter.host,
        Voter.token,
        Voter.device_kind,
        Voter.kernels,
        Voter.distrusted,
        transitions.OVERDUE.label("overdue"),
        holders.RUNNING.label("running"),
    )
    .select_from(Campaign)
    .outerjoin(Worker, Worker.id == bindparam("worker", type_=String))
    .outerjoin(Voter, Voter.id == Worker.voter_id)
    .where(Campaign.id == CAMPAIGN)
)
_WITH_TOKEN = _CLAIMANT.add_columns(holding.FRUITLESS, Now().label("now")).outerjoin(
    Token, (Token.campaign_id == Campaign.id) & (Token.digest == SHOWN)
)


def known(transaction: Transaction, campaign: CampaignRecord, worker_id: str, shown: str) -> Row[*tuple[Any, ...]]:
    """What the ledger knows of a worker that asks for leases, and of its token, by one query.

    Raises NoSuchCampaign, UnknownWorker, WrongToken or WorkerDistrusted.

    Args:
        worker_id: its UUID.
        shown: the digest of the token that it shows; "": it opens the ledger itself.
    """
    statement = _WITH_TOKEN if shown else _CLAIMANT
    rows: Sequence[Row[*tuple[Any, ...]]] = transaction.rows(statement, worker=worker_id, shown=shown)
    found = next(iter(rows), None)
    if found is None or found.uuid != campaign.uuid:
        raise catalogue.deleted(campaign)
    is_revoked = bool(shown) and found.fruitless is None  # after the start of this request
    _raise(reasons.refusal(Asking(found.token, shown, is_revoked, found.distrusted is not None)))
    return found


_SAME = select(Voter.id).where(
    Voter.host == bindparam("host"),
    Voter.token == bindparam("token"),
    Voter.kind == bindparam("kind"),
    Voter.device_kind == bindparam("device_kind"),
    Voter.kernels == bindparam("kernels"),
    Voter.distrusted.is_(None),
)
# It is not deleted before this transaction ends, see db.work.pruning.
_KEPT = _SAME.order_by(Voter.id).limit(1).with_for_update(read=True, key_share=True)


def _trusted_voter(connection: Connection, identity: dict[str, str]) -> int | None:
    known = statements.rows(connection, _KEPT, identity)
    if not known:
        # Workers that enrol at the same moment get one voter: they lose their trust together.
        alone(connection, Purpose.MAKE_VOTER)
        known = statements.rows(connection, _KEPT, identity)
    return int(known[0].id) if known else None
