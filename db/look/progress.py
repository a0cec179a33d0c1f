"""The progress of a campaign: numbers of tasks, work, attempts and results, the tasks one by one, and the count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlalchemy import Row, func, select

from db.records import CampaignRecord, Standing, TaskRecord
from db.schema.models import Attempt, Event, Result, Task, same_task
from db.states import EventKind, TaskState
from db.store.database import Database
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import waiting
from langford.errors import LangfordError
from langford.methods import Plan, merge
from langford.problem.reference import published
from langford.result import PartialResult

BATCH_ROWS = 5_000
MAX_TASKS = 150_000
"""Number of results that are merged within a second; more are merged only by `langford result`."""


def results(transaction: Transaction) -> Iterator[PartialResult]:
    """By task, read as they are iterated."""
    rows = transaction.execute(
        select(Result.task_index, Result.value, Result.residue, Result.evaluated)
        .where(Result.campaign_id == CAMPAIGN)
        .order_by(Result.task_index)
        .execution_options(yield_per=BATCH_ROWS)
    )
    return (PartialResult.from_text(*row) for row in rows)


_not_done = (
    Task.campaign_id == CAMPAIGN,
    Task.state.in_([state for state in TaskState if state is not TaskState.DONE]),
)
_NOT_DONE = select(Task.state, func.count(), func.sum(Task.work)).where(*_not_done).group_by(Task.state)
MAX_SIZES = 2_000
# In the order of the index, so that nothing is sorted.
_SIZES = (
    select(Task.state, Task.work, func.count())
    .where(*_not_done)
    .group_by(Task.state, Task.work)
    .order_by(Task.state.desc(), Task.work.desc())
    .limit(MAX_SIZES)
)
Sizes = Sequence[Row[str, float, int]]
"""(state, work of a task, number of such tasks), the largest of a state first."""


def sizes(transaction: Transaction) -> Sizes | None:
    """Of the tasks that are not done; None: they are of very many sizes."""
    found = transaction.execute(_SIZES).all()
    return found if len(found) < MAX_SIZES else None


def standing(transaction: Transaction, campaign: CampaignRecord, known: Sizes | None = None) -> Standing:
    """Tasks and work by state.

    Only tasks that are not done are counted; the number of done ones follows by subtraction.  So the query costs
    little towards the end of a campaign, when many workers ask in vain.

    ``known``: the sizes of its tasks, from which their numbers follow.
    """
    tasks, work = dict[str, int](), dict[str, float]()
    if known is None:
        for state, number, together in transaction.execute(_NOT_DONE).all():
            tasks[state], work[state] = number, float(together)
    else:
        for state, each, number in known:
            tasks[state] = tasks.get(state, 0) + number
            work[state] = work.get(state, 0.0) + each * number
    done = campaign.tasks - sum(tasks.values())
    if done:
        tasks[TaskState.DONE] = done
        work[TaskState.DONE] = max(0.0, campaign.work - sum(work.values()))
    return Standing(tasks, work, *(waiting.numbers(transaction) if done else (0, 0)))


_WAITING = (
    select(Task.work, func.count().label("tasks"))
    .where(Task.campaign_id == CAMPAIGN, Task.state == TaskState.READY)
    .group_by(Task.work)
    .order_by(Task.work.desc())
    .limit(MAX_SIZES)
)


def waiting_work(transaction: Transaction, standing: Standing, known: Sizes | None) -> list[tuple[float, int]]:
    """(work of a task, number of such tasks) of those that are ready, the largest first.

    Of very many sizes the smaller ones are summed up as their mean.

    ``known``: the sizes of the tasks that are not done, if they are not very many.
    """
    if known is not None:
        return [(work, number) for state, work, number in known if state == TaskState.READY]
    largest = [(row.work, row.tasks) for row in transaction.execute(_WAITING)]
    others = standing.tasks[TaskState.READY] - sum(number for _, number in largest)
    if others > 0:
        left = standing.work[TaskState.READY] - sum(work * number for work, number in largest)
        largest.append((max(0.0, left) / others, others))
    return largest


# By the index on deadlines.
_LEASING = select(Attempt.campaign_id).distinct().where(Attempt.ended.is_(None), Attempt.deadline > 0)


def leasing(database: Database) -> set[int]:
    """The numbers of the campaigns of a ledger whose tasks are leased now."""
    with database.reading() as connection:
        return set(connection.scalars(_LEASING))


_SECONDS = select(func.coalesce(func.sum(Result.seconds), 0.0)).where(Result.campaign_id == CAMPAIGN)


def seconds(transaction: Transaction) -> float:
    """Computing time of the accepted results."""
    return float(transaction.scalar(_SECONDS))


_CONFIRMATIONS = (
    select(func.count()).select_from(Event).where(Event.campaign_id == CAMPAIGN, Event.kind == EventKind.CONFIRMED)
)


def confirmations(transaction: Transaction) -> int:
    """Number of further results that agreed with the accepted ones."""
    return transaction.scalar(_CONFIRMATIONS) or 0


def tasks(transaction: Transaction, state: str | None) -> Iterator[TaskRecord]:
    """By index, read as they are iterated; ``state``: only those in it, None: all."""
    query = (
        select(
            Task.task_index,
            Task.state,
            Task.work,
            Task.failures,
            Result.value,
            Result.residue,
            Result.evaluated,
            Result.seconds,
            Result.provenance,
        )
        .outerjoin(Result, same_task(Result, Task))
        .where(Task.campaign_id == CAMPAIGN)
        .order_by(Task.task_index)
        .execution_options(yield_per=BATCH_ROWS)
    )
    if state is not None:
        query = query.where(Task.state == state)
    return (TaskRecord(*row) for row in transaction.execute(query))


class MergedCount:
    """The count of a campaign, kept until another result arrives."""

    def __init__(self, plan: Callable[[], Plan]) -> None:
        self._plan = plan
        self._known: tuple[float, int | None] | None = None

    def get(
        self, transaction: Transaction, campaign: CampaignRecord, last: float
    ) -> tuple[int | None, bool | None]:
        """(count, whether it is the published one) of a campaign that is done.

        Both are None if the merge is impossible or takes long; the second, if no count is published.
        ``last``: when its last attempt ended.
        """
        if self._known is None or self._known[0] != last:
            self._known = last, _merged(transaction, campaign, self._plan)
        count = self._known[1]
        known = published(campaign.key.problem)
        return count, None if count is None or known is None else count == known


def _merged(transaction: Transaction, campaign: CampaignRecord, plan: Callable[[], Plan]) -> int | None:
    if campaign.tasks > MAX_TASKS:
        return None
    try:
        waiting.require_trust(transaction, campaign)
        return merge(plan(), results(transaction)).published
    except LangfordError:
        return None
