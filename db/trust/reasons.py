"""Why a worker gets no task, and why a task waits: pure functions of what is known.

A lease is refused for the reason that `langford status NAME --why` gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from db.errors import LedgerError, TooManyLeases, UnknownWorker, WorkerDistrusted, WrongToken
from db.states import Doubt, TaskState
from db.trust.holding import MAX_FRUITLESS
from langford.words import several, some

NAMED = 4
"""Workers that a reason names at most."""


@dataclass(frozen=True)
class Asking:
    """A worker that asks for tasks; what is not looked up yet refuses nothing."""

    enrolled: str | None  # the digest of the token with which it enrolled, "": none; None: it has not enrolled
    shown: str  # the digest of the token that it shows
    is_revoked: bool = False
    is_distrusted: bool = False
    is_fruitless: bool = False  # whether the many last leases of its token brought nothing
    room: float = inf  # how many more tasks the workers with its token may hold
    ready: bool = True  # whether tasks are ready


def refusal(asking: Asking) -> LedgerError | None:
    """Why a worker gets no tasks even if there are any; None: it does."""
    if asking.enrolled is None:
        return UnknownWorker("this ledger does not know the worker: enrol it first")
    if asking.enrolled != asking.shown:
        return WrongToken(
            "this worker enrolled with another token: start it again with the token that it should use"
        )
    if asking.is_revoked:
        return WrongToken("this token was revoked: ask for another one")
    if asking.is_distrusted:
        return WorkerDistrusted(
            "others found a result of this worker wrong: it gets no more tasks; check this machine's memory, "
            "its GPU and its version of langford, then start it again"
        )
    if asking.is_fruitless:
        return TooManyLeases(
            f"the last {MAX_FRUITLESS:,} leases of the workers with this token brought no result: they get more "
            "tasks once one of them delivers; if workers are preempted before a task is done, create the campaign "
            "with a larger --depth"
        )
    if asking.room < 1 and asking.ready:
        return TooManyLeases(
            "the workers with this token hold their share of the tasks that are left, which all tokens share "
            "alike: they get more tasks once they deliver results"
        )
    return None


@dataclass(frozen=True)
class Left:
    """What is left to do in a campaign."""

    campaign: str
    leased: int  # tasks that workers hold
    set_aside: int
    waiting: int  # results that wait for another voter


def why_no_task(asking: Asking, left: Left) -> str:
    """Why a worker that is present holds no task."""
    refused = refusal(asking)
    if refused is not None:
        return str(refused)
    if asking.ready:
        return "it gets a task when it asks the next time, unless its machine failed at all that are ready"
    if left.leased:
        return f"no task is ready: others hold {several(left.leased, 'task')}; after a minute it gets a copy of one"
    if left.waiting:
        return (
            f"{several(left.waiting, 'result waits', 'results wait')} for a voter with another token than its own"
        )
    if left.set_aside:
        return f"all tasks that are left are set aside: `langford retry {left.campaign}` tries them again"
    return "nothing is left to do"


@dataclass(frozen=True)
class TaskFacts:
    """What the ledger knows of a task."""

    campaign: str
    state: TaskState
    larger: int = 0  # ready tasks with more work
    held: Sequence[str] = ()  # who holds it, and until when
    reason: str = ""  # why it was set aside
    result: str = ""  # who delivered its result, and when
    confirmed: str = ""  # who confirmed it
    must_be_confirmed: bool = False
    doubt: Doubt | None = None
    voters: Sequence[str] = ()  # who is present and may evaluate it again


def why_it_waits(task: TaskFacts) -> str:
    """What a task waits for, and who or what would help."""
    held = f"; leased by {some(list(task.held), NAMED)}" if task.held else ""
    decide = f"`langford verify {task.campaign} --waiting` decides"
    if task.state is TaskState.SET_ASIDE:
        return f"set aside, {task.reason or 'by the operator'}: `langford retry {task.campaign}` tries it again"
    if task.state is TaskState.READY:
        first = f" after {several(task.larger, 'larger task')}" if task.larger else ""
        return f"ready: the next worker that asks gets it{first}"
    if task.state is TaskState.LEASED:
        return held.removeprefix("; ")
    if task.doubt is Doubt.TIE:
        return f"contested, and the votes decide nothing: {decide}"
    if task.doubt is None and (task.confirmed or not task.must_be_confirmed):
        return f"done {task.result}, {f'confirmed by {task.confirmed}' if task.confirmed else 'not drawn'}"
    why = {None: "drawn", Doubt.CONFLICT: "contested", Doubt.QUESTION: "in question"}[task.doubt]
    voters = (
        f"{some(list(task.voters), NAMED)} may do it"
        if task.voters
        else f"start a worker with another token (`langford token {task.campaign}`), or {decide}"
    )
    return f"done {task.result}, {why}: it waits for another voter; {voters}{held}"
