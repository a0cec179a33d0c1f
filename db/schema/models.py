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
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Text,
    and_,
    false,
    text,
)

from db.schema.declaring import Mapped, TableType, mapped_column
from db.states import TaskState


def fresh_secret() -> str:
    """A key for the draw of a campaign, which cannot be guessed."""
    return secrets.token_hex(32)


class Base(metaclass=TableType):
    """What all tables have in common."""


def _partial(name: str, *columns: str, where: str, postgres: str | None = None) -> Index:
    """An index of some rows; its conditions are in the words of each database's queries, which SQLite compares.

    They are no options of the index here, with which SQLAlchemy would import both databases' dialects.
    """
    return Index(name, *columns, info={"sqlite": text(where), "postgresql": text(postgres or where)})


def column(meaning: str, kind: Any = None, **options: Any) -> Any:
    """A column with its meaning, which is shown by the page of the ledger."""
    return mapped_column(kind, doc=meaning, **options)


def same_task(table: Any, other: Any) -> ColumnElement[bool]:
    """The condition that joins two tables by their tasks."""
    return and_(table.campaign_id == other.campaign_id, table.task_index == other.task_index)


class Ledger(Base):
    """The ledger itself: one row."""

    __tablename__ = "ledger"
    uuid: Mapped[str] = column("Random; a copy of a ledger keeps it.", String(36), primary_key=True)
    created: Mapped[float] = column("When.")


class Campaign(Base):
    """One problem × method × depth × seed, and all its tasks."""

    __tablename__ = "campaign"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    uuid: Mapped[str] = column(
        "Random; no other campaign of any ledger has it, not even one of the same name.", String(36)
    )
    name: Mapped[str] = mapped_column(String(200), unique=True)
    problem: Mapped[str] = column("Its name, see :meth:`langford.problem.Problem.parse`.", Text)
    method: Mapped[str] = column("Its name.", String(40))
    depth: Mapped[int] = column("The task depth p.")
    seed: Mapped[int] = column("Selects one of the method's sums; 0 for a method that has only one.", default=0)
    tasks: Mapped[int] = column("Number of tasks.")
    work: Mapped[float] = column("Estimated work of all tasks, in the method's unit.")
    created: Mapped[float] = column("When.")
    recheck_share: Mapped[float] = column("Share of the tasks that another voter evaluates again.", default=0.0)
    secret: Mapped[str] = column(
        "Key of the draw, see :mod:`db.trust.draw`; published only with the count.",
        String(64),
        default=fresh_secret,
    )


class Task(Base):
    """One independent part of a campaign, identified by campaign and index."""

    __tablename__ = "task"
    __table_args__ = (Index("task_queue", "campaign_id", "state", "work"),)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"), primary_key=True)
    task_index: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    work: Mapped[float] = column("Estimated work, in the method's unit.")
    state: Mapped[str] = column("A value of :class:`db.states.TaskState`.", String(12), default=TaskState.READY)
    failures: Mapped[int] = column("How often the task itself failed.", default=0)
    deaths: Mapped[int] = column("How often the process that evaluated it died.", default=0, server_default="0")
    retried: Mapped[int] = column(
        "The last attempt before an operator made it ready again: failures and deaths up to it no longer count.",
        default=0,
        server_default="0",
    )


class Voter(Base):
    """The unit of trust in results: one machine with one token, one kind of device and one version of the kernels.

    Its workers lose trust together.  The next worker of the same machine gets another voter.
    """

    __tablename__ = "voter"
    __table_args__ = (
        Index("voter_identity", "token", "host"),
        _partial("voter_distrusted", "id", where="distrusted IS NOT NULL"),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    kind: Mapped[str] = column("A value of :class:`db.states.VoterKind`.", String(10))
    host: Mapped[str] = column("Name of the machine.", String(255))
    token: Mapped[str] = column(
        'SHA-256 of the token with which its workers use a task server; "" for those that open the ledger. It '
        "says which voters share a token, and opens nothing.",
        String(64),
        default="",
    )
    device_kind: Mapped[str] = column('"cpu" or "cuda".', String(10), default="cpu")
    kernels: Mapped[str] = column('Hash of the code that computes there; "": unknown.', String(64), default="")
    distrusted: Mapped[float | None] = column("When one of its results was found wrong; None while it is trusted.")


class Worker(Base):
    """One start of one worker process."""

    __tablename__ = "worker"
    __table_args__ = (Index("worker_voter", "voter_id"),)
    id: Mapped[str] = column("A fresh UUID.", String(36), primary_key=True)
    host: Mapped[str] = column("Name of its machine.", String(255))
    process: Mapped[str] = column("Its name on that machine, see :func:`db.identity.process_name`.", String(80))
    started: Mapped[float] = column("When it enrolled.")
    device_kind: Mapped[str] = column('"cpu" or "cuda".', String(10), default="cpu")
    kernels: Mapped[str | None] = column(
        "Hash of the code that computes there, see :func:`langford.provenance.kernel_hash`; None: unknown.",
        String(64),
    )
    voter_id: Mapped[int | None] = column("The voter that is responsible for its results.")
    last_seen: Mapped[float | None] = column(
        "When it made its last request, to about five seconds, see :mod:`db.work.presence`."
    )
    ended: Mapped[float | None] = column("When its work ended; None while it works, or if that is unknown.")
    ending: Mapped[str | None] = column("A value of :class:`db.states.Ending`; None like ``ended``.", String(12))
    cores: Mapped[int | None] = column("Number of processor cores that it may use; None: unknown.")
    processes: Mapped[int | None] = column("Number of its processes that compute; None: unknown.")
    device_model: Mapped[str | None] = column(
        "Model of its device, by its manufacturer; None: unknown.", String(200)
    )
    slurm_job: Mapped[str | None] = column(
        "Number of its SLURM job, of the whole array for an array job; None outside of SLURM.", String(40)
    )
    slurm_index: Mapped[int | None] = column("Its index in the array; None outside of one.")


class Attempt(Base):
    """One lease of one task by one worker."""

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
        Index("attempt_worker", "worker_id", "ended", "outcome", "granted", "began", "computed"),
    )
    id: Mapped[int] = column("The fencing token.", Integer, primary_key=True)
    campaign_id: Mapped[int]
    task_index: Mapped[int]
    worker_id: Mapped[str] = mapped_column(ForeignKey("worker.id"))
    nonce: Mapped[str | None] = column(
        "SHA-256 of the nonce that its worker must show, see :mod:`db.attempts`.",
        String(64),
    )
    granted: Mapped[float] = column("When the lease began.")
    began: Mapped[float | None] = column(
        "When its computing began, by the clock of its worker, but not before the grant and not after its result "
        "arrived; None: unknown."
    )
    deadline: Mapped[float] = column("When the task goes to another worker, unless the lease is renewed.")
    seconds: Mapped[float | None] = column(
        "From the grant, or the last renewal, to the deadline; None in imported attempts."
    )
    copied: Mapped[bool] = column(
        "Whether another attempt at its task runs or ran at the same time, see :mod:`db.work.leases`.",
        Boolean,
        default=False,
        server_default=false(),
    )
    steps: Mapped[int | None] = column(
        "Steps made at the last renewal, see :mod:`langford.machine.process`; None: it had not begun.", BigInteger
    )
    computed: Mapped[float | None] = column(
        "For how many seconds it was computed, as its worker last said; 0: it had not begun, None: the worker said "
        "nothing."
    )
    ended: Mapped[float | None] = column("When; None while the attempt runs.")
    outcome: Mapped[str | None] = column(
        "A value of :class:`db.states.Outcome`; None while the attempt runs.", String(12)
    )
    note: Mapped[str | None] = column("Why it ended, or where an imported result comes from.", Text)
    questioned: Mapped[float | None] = column(
        "When the operator put its result in question; such a result is no vote."
    )


class ResultColumns:
    """The result of an attempt."""

    value: Mapped[str] = column("The partial result, as decimal text.", Text)
    residue: Mapped[str] = column("Value mod 2^64 − 1, as decimal text.", Text)
    evaluated: Mapped[str] = column("Products or nodes, as decimal text.", Text)
    seconds: Mapped[float] = column("Computing time.")
    provenance: Mapped[str] = column("Host, device, kernels and versions that computed it, as JSON.", Text)
    accepted: Mapped[float] = column("When it was delivered.")


class Result(ResultColumns, Base):
    """The accepted result of a task: at most one, by the primary key."""

    __tablename__ = "result"
    __table_args__ = (
        ForeignKeyConstraint(["campaign_id", "task_index"], ["task.campaign_id", "task.task_index"]),
        Index("result_voter", "voter_id"),
        _partial("result_drawn", "campaign_id", "confirmed_by", "voter_id", where="drawn = 1", postgres="drawn"),
        _partial("result_confirmed", "confirmed_by", where="confirmed_by IS NOT NULL"),
        _partial("result_doubt", "campaign_id", "doubt", where="doubt IS NOT NULL"),
    )
    campaign_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    task_index: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"))
    # Without foreign keys: each result would lock the row of its voter.
    voter_id: Mapped[int | None] = column("The voter that is responsible for it.")
    confirmed_by: Mapped[int | None] = column(
        "An independent voter that found the same value; None: there is none."
    )
    doubt: Mapped[str | None] = column("A value of :class:`db.states.Doubt`; None: it is not in doubt.", String(10))
    drawn: Mapped[bool] = column(
        "Whether it must be confirmed: its task was drawn, here or in the file that it comes from, or contested.",
        default=False,
    )


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
    """An event in the history of a campaign."""

    __tablename__ = "event"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    task_index: Mapped[int | None]
    attempt_id: Mapped[int | None]
    at: Mapped[float] = column("When.")
    kind: Mapped[str] = column("A value of :class:`db.states.EventKind`.", String(12))
    detail: Mapped[str] = column("What happened, in words.", Text, default="")


class Token(Base):
    """The right to use a campaign through a task server."""

    __tablename__ = "token"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    role: Mapped[str] = column("A value of :class:`db.states.Role`.", String(10))
    digest: Mapped[str] = column(
        "SHA-256 of the token in hexadecimal digits; the token itself is not kept.", String(64), unique=True
    )
    created: Mapped[float] = column("When.")
    expires: Mapped[float | None] = column("When it expires; None: never.")
    label: Mapped[str] = column("Its purpose, in the operator's words.", String(100), default="")
    fruitless: Mapped[int] = column(
        "Leases and refused results of its workers since their last result, see :mod:`db.trust.holding`.",
        default=0,
        server_default="0",
    )
    used: Mapped[float] = column(
        "Processor time of a task server for its requests, in seconds.", default=0.0, server_default="0"
    )
