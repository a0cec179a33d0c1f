"""The tables.  Counts are decimal text: they exceed 64 bits, and must never become floats.

Times are seconds since 1970 by the database's clock (:class:`db.schema.dialects.Now`).
"""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
    and_,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from db.states import TaskState


def fresh_secret() -> str:
    """A key for the draw of a campaign, which cannot be guessed."""
    return secrets.token_hex(32)


class Base(DeclarativeBase):
    """Declarative base of the ledger."""


def _partial(name: str, *columns: str, where: str, postgres: str | None = None) -> Index:
    """An index of some rows; its conditions are in the words of each database's queries, which SQLite compares.

    They are no options of the index here, with which SQLAlchemy would import both databases' dialects.
    """
    return Index(name, *columns, info={"sqlite": text(where), "postgresql": text(postgres or where)})


def same_task(table: Any, other: Any) -> ColumnElement[bool]:
    """The condition that joins two tables by their tasks."""
    return and_(table.campaign_id == other.campaign_id, table.task_index == other.task_index)


class Ledger(Base):
    """The ledger itself: one row.

    Attributes:
        uuid: random; a copy of a ledger keeps it.
        created: when.
    """

    __tablename__ = "ledger"
    uuid: Mapped[str] = mapped_column(String(36), primary_key=True)
    created: Mapped[float] = mapped_column(Float(53))


class Campaign(Base):
    """One problem × method × depth × seed, and all its tasks.

    Attributes:
        uuid: random; no other campaign of any ledger has it, not even one of the same name.
        problem: its name, see :meth:`langford.problem.Problem.parse`.
        method: its name.
        depth: the task depth p.
        seed: selects one of the method's sums; 0 for a method that has only one.
        tasks: number of tasks.
        work: estimated work of all tasks, in the method's unit.
        created: when.
        recheck_share: share of the results that another voter evaluates again.
        secret: key of the draw, see :mod:`db.trust.draw`; never sent, shown or exported.
    """

    __tablename__ = "campaign"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    uuid: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(200), unique=True)
    problem: Mapped[str] = mapped_column(Text)
    method: Mapped[str] = mapped_column(String(40))
    depth: Mapped[int]
    seed: Mapped[int] = mapped_column(default=0)
    tasks: Mapped[int]
    work: Mapped[float] = mapped_column(Float(53))
    created: Mapped[float] = mapped_column(Float(53))
    recheck_share: Mapped[float] = mapped_column(Float(53), default=0.0)
    secret: Mapped[str] = mapped_column(String(64), default=fresh_secret)


class Task(Base):
    """One independent part of a campaign, identified by campaign and index.

    Attributes:
        work: estimated work, in the method's unit.
        state: a value of :class:`db.states.TaskState`.
        failures: how often the task itself failed.
        deaths: how often the process that evaluated it died.
        retried: the last attempt before an operator made it ready again: failures and deaths up to it no longer
            count.
    """

    __tablename__ = "task"
    __table_args__ = (Index("task_queue", "campaign_id", "state", "work"),)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"), primary_key=True)
    task_index: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    work: Mapped[float] = mapped_column(Float(53))
    state: Mapped[str] = mapped_column(String(12), default=TaskState.READY)
    failures: Mapped[int] = mapped_column(default=0)
    deaths: Mapped[int] = mapped_column(default=0, server_default="0")
    retried: Mapped[int] = mapped_column(default=0, server_default="0")


class Voter(Base):
    """The unit of trust in results: one machine with one token, one kind of device and one version of the kernels.

    Its workers lose trust together.  The next worker of the same machine gets another voter, without a record.

    Attributes:
        kind: a value of :class:`db.states.VoterKind`.
        host: name of the machine.
        token: SHA-256 of the token with which its workers use a task server; "" for those that open the ledger.
            It says which voters share a token, and opens nothing.
        device_kind: "cpu" or "cuda".
        kernels: hash of the code that computes there; "": unknown.
        valid: how many of its results independent voters confirmed.
        distrusted: when one of its results was found wrong; None while it is trusted.
    """

    __tablename__ = "voter"
    __table_args__ = (
        Index("voter_machine", "host", "token"),
        _partial("voter_distrusted", "id", where="distrusted IS NOT NULL"),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    kind: Mapped[str] = mapped_column(String(10))
    host: Mapped[str] = mapped_column(String(255))
    token: Mapped[str] = mapped_column(String(64), default="")
    device_kind: Mapped[str] = mapped_column(String(10), default="cpu")
    kernels: Mapped[str] = mapped_column(String(64), default="")
    valid: Mapped[int] = mapped_column(default=0)
    distrusted: Mapped[float | None] = mapped_column(Float(53))


class Worker(Base):
    """One start of one worker process.

    Attributes:
        id: a fresh UUID.
        host: name of its machine.
        process: its name on that machine, see :func:`jobs.reach.identity.process_name`.
        started: when it enrolled.
        device_kind: "cpu" or "cuda".
        kernels: hash of the code that computes there, see :func:`langford.provenance.kernel_hash`; None: unknown.
        voter_id: the voter that is responsible for its results.
        last_seen: when it made its last request, to about half a minute, see :mod:`db.work.presence`; None in
            workers of earlier versions.
        ended: when its work ended; None while it works, or if that is unknown.
        ending: a value of :class:`db.states.Ending`; None like ``ended``.
        cores: number of processor cores that it may use; None: unknown.
        processes: number of its processes that compute; None: unknown.
        device_model: the manufacturer's name of its device; None: unknown.
        slurm_job: number of its SLURM job, of the whole array for an array job; None outside of SLURM.
        slurm_index: its index in the array; None outside of one.
    """

    __tablename__ = "worker"
    __table_args__ = (Index("worker_voter", "voter_id"),)
    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    host: Mapped[str] = mapped_column(String(255))
    process: Mapped[str] = mapped_column(String(80))
    started: Mapped[float] = mapped_column(Float(53))
    device_kind: Mapped[str] = mapped_column(String(10), default="cpu")
    kernels: Mapped[str | None] = mapped_column(String(64))
    voter_id: Mapped[int | None]
    last_seen: Mapped[float | None] = mapped_column(Float(53))
    ended: Mapped[float | None] = mapped_column(Float(53))
    ending: Mapped[str | None] = mapped_column(String(12))
    cores: Mapped[int | None]
    processes: Mapped[int | None]
    device_model: Mapped[str | None] = mapped_column(String(200))
    slurm_job: Mapped[str | None] = mapped_column(String(40))
    slurm_index: Mapped[int | None]


class Attempt(Base):
    """One lease of one task by one worker.

    Attributes:
        id: the fencing token.
        nonce: SHA-256 of the nonce that its worker must show, see :mod:`db.attempts`; None in attempts of
            earlier versions, which have no nonce.
        granted: when the lease began.
        began: when its computing began, by the clock of its worker, but not before the grant and not after its
            result arrived; None: unknown.
        deadline: when the task goes to another worker, unless the lease is renewed.
        seconds: from the grant, or the last renewal, to the deadline; None in attempts of earlier versions.
        copied: whether another attempt at its task runs or ran at the same time, see :mod:`db.work.leases`.
        steps: steps made at the last renewal, see :mod:`langford.machine.process`; None: it had not begun.
        ended: when; None while the attempt runs.
        outcome: a value of :class:`db.states.Outcome`; None while the attempt runs.
        note: why it ended, or where an imported result comes from.
        questioned: when the operator put its result in question; such a result is no vote.
    """

    __tablename__ = "attempt"
    __table_args__ = (
        ForeignKeyConstraint(["campaign_id", "task_index"], ["task.campaign_id", "task.task_index"]),
        _partial("attempt_open", "deadline", where="ended IS NULL"),
        _partial(
            "attempt_alone",
            "campaign_id",
            "granted",
            where="ended IS NULL AND copied = 0",
            postgres="ended IS NULL AND NOT copied",
        ),
        Index("attempt_task", "campaign_id", "task_index"),
        Index("attempt_worker", "worker_id", "ended", "outcome", "granted", "began"),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    campaign_id: Mapped[int]
    task_index: Mapped[int]
    worker_id: Mapped[str] = mapped_column(ForeignKey("worker.id"))
    nonce: Mapped[str | None] = mapped_column(String(64))
    granted: Mapped[float] = mapped_column(Float(53))
    began: Mapped[float | None] = mapped_column(Float(53))
    deadline: Mapped[float] = mapped_column(Float(53))
    seconds: Mapped[float | None] = mapped_column(Float(53))
    copied: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())
    steps: Mapped[int | None] = mapped_column(BigInteger)
    ended: Mapped[float | None] = mapped_column(Float(53))
    outcome: Mapped[str | None] = mapped_column(String(12))
    note: Mapped[str | None] = mapped_column(Text)
    questioned: Mapped[float | None] = mapped_column(Float(53))


class ResultColumns:
    """The result of an attempt.

    Attributes:
        value: the partial result, as decimal text.
        residue: value mod 2^64 − 1, as decimal text.
        evaluated: products or nodes, as decimal text.
        seconds: computing time.
        provenance: host, device, kernels and versions that computed it, as JSON.
        accepted: when it was delivered.
        lot: the result is drawn for a recheck while this is below the campaign's share, see :mod:`db.trust.draw`.
    """

    value: Mapped[str] = mapped_column(Text)
    residue: Mapped[str] = mapped_column(Text)
    evaluated: Mapped[str] = mapped_column(Text)
    seconds: Mapped[float] = mapped_column(Float(53))
    provenance: Mapped[str] = mapped_column(Text)
    accepted: Mapped[float] = mapped_column(Float(53))
    lot: Mapped[float] = mapped_column(Float(53), default=0.0)


class Result(ResultColumns, Base):
    """The accepted result of a task: at most one, by the primary key.

    Attributes:
        voter_id: the voter that is responsible for it.
        confirmed_by: an independent voter that found the same value; None: there is none.
        doubt: a value of :class:`db.states.Doubt`; None: it is not in doubt.
        listed: whether the index of the draw contains it; results of a campaign without a share are not listed.
    """

    __tablename__ = "result"
    __table_args__ = (
        ForeignKeyConstraint(["campaign_id", "task_index"], ["task.campaign_id", "task.task_index"]),
        Index("result_voter", "voter_id"),
        _partial(
            "result_drawn", "campaign_id", "voter_id", "confirmed_by", "lot", where="listed = 1", postgres="listed"
        ),
        _partial("result_confirmed", "confirmed_by", where="confirmed_by IS NOT NULL"),
        _partial("result_doubt", "campaign_id", "doubt", where="doubt IS NOT NULL"),
    )
    campaign_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    task_index: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"))
    # Without foreign keys: each result would lock the row of its voter.
    voter_id: Mapped[int | None]
    confirmed_by: Mapped[int | None]
    doubt: Mapped[str | None] = mapped_column(String(10))
    listed: Mapped[bool] = mapped_column(default=False)


class Witness(ResultColumns, Base):
    """A further result of a task, which confirms the accepted result or disagrees with it."""

    __tablename__ = "witness"
    __table_args__ = (
        ForeignKeyConstraint(["campaign_id", "task_index"], ["task.campaign_id", "task.task_index"]),
        Index("witness_task", "campaign_id", "task_index"),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    campaign_id: Mapped[int]
    task_index: Mapped[int]
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"))


class Event(Base):
    """An event in the history of a campaign.

    Attributes:
        at: when.
        kind: a value of :class:`db.states.EventKind`.
        detail: what happened, in words.
    """

    __tablename__ = "event"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    task_index: Mapped[int | None]
    attempt_id: Mapped[int | None]
    at: Mapped[float] = mapped_column(Float(53))
    kind: Mapped[str] = mapped_column(String(12))
    detail: Mapped[str] = mapped_column(Text, default="")


class Token(Base):
    """The right to use a campaign through a task server.

    Attributes:
        role: a value of :class:`db.states.Role`.
        digest: SHA-256 of the token in hexadecimal digits; the token itself is not kept.
        created: when.
        expires: when it expires; None: never.
        label: its purpose, in the operator's words.
        leases: its account, see :mod:`db.work.accounts`: leases that were not paid for by results or time.
        held: leases that run: as many as at the last count, and those granted since.
        room: how many leases may run at once, besides those that its results allow; by the last count.
        results: how many results its workers delivered.
        counted: when its leases were last counted; None: never.
    """

    __tablename__ = "token"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    role: Mapped[str] = mapped_column(String(10))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    created: Mapped[float] = mapped_column(Float(53))
    expires: Mapped[float | None] = mapped_column(Float(53))
    label: Mapped[str] = mapped_column(String(100), default="")
    leases: Mapped[float] = mapped_column(Float(53), default=0.0, server_default="0")
    held: Mapped[int] = mapped_column(default=0, server_default="0")
    room: Mapped[int] = mapped_column(default=0, server_default="0")
    results: Mapped[int] = mapped_column(default=0, server_default="0")
    counted: Mapped[float | None] = mapped_column(Float(53))


class Notice(Base):
    """A notice, sent once to the operator by a command or to a URL, whichever process serves the campaign.

    Attributes:
        channel: how it is sent: "command" or "url".
        kind: a value of :class:`db.states.NoticeKind`.
        about: the occurrence: the number of its last event, or as :mod:`db.look.notices` describes.
        tries: number of attempts to send it.
        next_try: when it may be tried again, after an attempt that is running or has failed.
        told: when it was delivered; None: it was not.
    """

    __tablename__ = "notice"
    __table_args__ = (UniqueConstraint("campaign_id", "channel", "kind", "about"),)
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    channel: Mapped[str] = mapped_column(String(10))
    kind: Mapped[str] = mapped_column(String(12))
    about: Mapped[int] = mapped_column(BigInteger)
    tries: Mapped[int]
    next_try: Mapped[float] = mapped_column(Float(53))
    told: Mapped[float | None] = mapped_column(Float(53))
