"""What the ledger hands out: plain immutable records, no live database objects."""

from __future__ import annotations

from dataclasses import dataclass

from langford.problem import Problem
from langford.result import PartialResult


@dataclass(frozen=True)
class CampaignRecord:
    """A campaign as it stands in the ledger."""

    id: int
    name: str
    problem: Problem
    method: str
    depth: int
    tasks: int
    work: float
    created: float
    replicate: float
    """Share of the results that another worker evaluates again."""


@dataclass(frozen=True)
class Lease:
    """The right to work on a task until the deadline, unless renewed."""

    attempt: int
    index: int
    work: float


@dataclass(frozen=True)
class OwnAttempt:
    """An attempt as its worker's claim to a result: at which task, and whether the worker is trusted.

    ``accepted`` is the task's result, if it has one: (value, the attempt that brought it).
    """

    index: int
    worker: str
    trusted: bool
    accepted: tuple[str, int] | None


@dataclass(frozen=True)
class Delivery:
    """A result that a worker hands in for an attempt.

    ``seconds`` is the computing time, ``provenance`` JSON: host, device, versions.
    """

    attempt: int
    result: PartialResult
    seconds: float
    provenance: str


@dataclass(frozen=True)
class Progress:
    """How far a campaign is.

    Attributes:
        tasks: number of tasks by state.
        work: estimated work by state, in the method's unit.
        seconds: computing time of the accepted results.
        evaluated: points or nodes of the accepted results.
        attempts: ended attempts by outcome, and the running ones under "running".
        confirmed: results repeated with the same value.
        conflicts: tasks whose results disagree, not settled yet.
        rechecks: results that another worker shall evaluate again.
    """

    tasks: dict[str, int]
    work: dict[str, float]
    seconds: float
    evaluated: int
    attempts: dict[str, int]
    confirmed: int
    conflicts: int
    rechecks: int


@dataclass(frozen=True)
class TaskRecord:
    """One task with its result, if it has one; counts as decimal text."""

    index: int
    state: str
    work: float
    failures: int
    value: str | None
    residue: str | None
    evaluated: str | None
    seconds: float | None
    provenance: str | None
