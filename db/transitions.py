"""What happens to tasks and attempts within a transaction: each function is one change of state."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, select, update

from db.clock import Now
from db.models import Attempt, Event, Recheck, Result, Task
from db.records import CampaignRecord, Delivery
from db.states import FAILURES_BEFORE_SET_ASIDE, EventKind, Outcome, TaskState

BULK_ROWS = 10_000


def insert_results(connection: Connection, campaign: CampaignRecord, fresh: Sequence[Delivery]) -> None:
    """Insert the first results of their tasks, which are done then."""
    if not fresh:
        return
    connection.execute(insert(Result).values(accepted=Now()), [found_row(campaign.id, each) for each in fresh])
    # Not end(): these tasks are done next, and the first result of a task is never a recheck's.
    running = Attempt.id.in_([each.attempt for each in fresh]), Attempt.ended.is_(None)
    connection.execute(update(Attempt).where(*running).values(ended=Now(), outcome=Outcome.DONE))
    done = [each.result.index for each in fresh]
    set_state(connection, campaign.id, done, TaskState.DONE)


def found_row(campaign: int, delivery: Delivery) -> dict[str, object]:
    """A delivery as a row of ``result`` or ``witness``."""
    found = delivery.result
    return {
        "campaign_id": campaign, "task_index": found.index, "attempt_id": delivery.attempt,
        "value": str(found.value), "residue": str(found.residue), "evaluated": str(found.evaluated),
        "seconds": delivery.seconds, "provenance": delivery.provenance,
    }


def fail(connection: Connection, campaign: int, attempt: int, reason: str) -> bool:
    """An attempt failed by itself; whether its task (or the recheck of a task that is done) is set aside
    for failing too often."""
    index = connection.scalar(select(Attempt.task_index).where(Attempt.id == attempt))
    if not end(connection, Attempt.id == attempt, Outcome.FAILED, reason) or index is None:
        return False
    key = Task.campaign_id == campaign, Task.task_index == index
    connection.execute(update(Task).where(*key).values(failures=Task.failures + 1))
    if connection.scalar(select(Task.failures).where(*key)) < FAILURES_BEFORE_SET_ASIDE:  # type: ignore[operator]
        return False
    set_state(connection, campaign, [index], TaskState.SET_ASIDE, TaskState.READY)
    connection.execute(delete(Recheck).where(Recheck.campaign_id == campaign, Recheck.task_index == index))
    record(connection, campaign, EventKind.SET_ASIDE, index, attempt, reason)
    return True


def expire(connection: Connection, campaign: int, overdue: object) -> None:
    """End the campaign's attempts that ``overdue`` describes."""
    end(connection, (Attempt.campaign_id == campaign) & overdue, Outcome.EXPIRED, None)


def end(connection: Connection, which: object, outcome: Outcome, note: str | None) -> int:
    """End running attempts; their tasks are ready again unless done.  Returns how many."""
    ended = connection.execute(
        update(Attempt)
        .where(which, Attempt.ended.is_(None))  # type: ignore[arg-type]
        .values(ended=Now(), outcome=outcome, **({} if note is None else {"note": note}))
        .returning(Attempt.id, Attempt.campaign_id, Attempt.task_index)
    ).all()
    if ended:
        own = Recheck.attempt_id.in_([row.id for row in ended])
        connection.execute(update(Recheck).where(own).values(attempt_id=None))
    for campaign in {row.campaign_id for row in ended}:
        indices = [row.task_index for row in ended if row.campaign_id == campaign]
        set_state(connection, campaign, indices, TaskState.READY, TaskState.LEASED)
    return len(ended)


def set_state(
    connection: Connection, campaign: int, indices: list[int], state: TaskState, only: TaskState | None = None
) -> None:
    """Put tasks into a state, or only those that are in state ``only``."""
    for start in range(0, len(indices), BULK_ROWS):
        chosen = update(Task).where(
            Task.campaign_id == campaign, Task.task_index.in_(indices[start : start + BULK_ROWS])
        )
        if only is not None:
            chosen = chosen.where(Task.state == only)
        connection.execute(chosen.values(state=state))


def record(
    connection: Connection, campaign: int, kind: EventKind, task: int | None = None, attempt: int | None = None,
    detail: str = "",
) -> None:
    """Remember an event."""
    connection.execute(
        insert(Event).values(
            campaign_id=campaign, task_index=task, attempt_id=attempt, at=Now(), kind=kind, detail=detail
        )
    )
