"""The ledger: every change of state is one method here and one transaction.

A worker holds *leases*; the id of the attempt is the fencing token.  Whatever happens to a
worker, a task is either done (its result is committed), or it can be leased again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, insert, select, update

from db import engine as engines
from db import queries
from db.clock import Now
from db.errors import CampaignMismatch, ConflictingResults, NoSuchCampaign
from db.models import Attempt, Campaign, Event, Result, Task, Worker
from db.records import CampaignRecord, Lease, Progress, TaskRecord
from db.states import FAILURES_BEFORE_SET_ASIDE, EventKind, Outcome, TaskState
from langford.problem import Problem
from langford.result import Expectation, PartialResult

BULK_ROWS = 10_000


class Ledger:
    """An open ledger.  Methods raise the errors of :mod:`db.errors`."""

    def __init__(self, where: str, create: bool = False) -> None:
        """Open ``where``, a file name or database URL; ``create`` makes a new one if need be."""
        self.where = where
        self._engine = engines.open_engine(where, create)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with engines.translated(self.where), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with engines.translated(self.where), self._engine.connect() as connection:
            connection = connection.execution_options(read_only=True)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    # -- campaigns ------------------------------------------------------------------------

    def create_campaign(
        self, name: str, problem: Problem, method: str, depth: int, work: Sequence[float]
    ) -> CampaignRecord:
        """Create a campaign with all its tasks at once, or find the same one again.

        Raises CampaignMismatch when ``name`` belongs to a different campaign.
        """
        with self._writing() as connection:
            existing = queries.campaign(connection, name)
            if existing is None:
                identity = connection.execute(
                    insert(Campaign).returning(Campaign.id).values(
                        name=name, problem=problem.name, method=method, depth=depth,
                        tasks=len(work), work=float(sum(work)), created=Now(),
                    )
                ).scalar_one()
                for start in range(0, len(work), BULK_ROWS):
                    rows = [
                        {"campaign_id": identity, "task_index": start + k, "work": float(each),
                         "state": TaskState.READY, "failures": 0}
                        for k, each in enumerate(work[start : start + BULK_ROWS])
                    ]
                    connection.execute(insert(Task), rows)
                self._record(connection, identity, EventKind.CREATED)
                existing = queries.campaign(connection, name)
            assert existing is not None
        wanted = (problem, method, depth, len(work))
        found = (existing.problem, existing.method, existing.depth, existing.tasks)
        if wanted != found:
            raise CampaignMismatch(
                f"campaign {name!r} in {self.where} is {existing.problem.name} by {existing.method} at "
                f"depth {existing.depth}, not {problem.name} by {method} at depth {depth}: "
                "choose another --name"
            )
        return existing

    def campaign(self, name: str) -> CampaignRecord:
        """The campaign of that name; raises NoSuchCampaign."""
        with self._reading() as connection:
            found = queries.campaign(connection, name)
            names = queries.campaign_names(connection)
        if found is None:
            known = f"it has {', '.join(names)}" if names else "it has none yet"
            raise NoSuchCampaign(f"no campaign {name!r} in {self.where}; {known}")
        return found

    def campaigns(self) -> list[CampaignRecord]:
        """All campaigns, oldest first."""
        with self._reading() as connection:
            found = [queries.campaign(connection, name) for name in queries.campaign_names(connection)]
        return [each for each in found if each is not None]

    # -- leases ---------------------------------------------------------------------------

    def enrol(self, worker: str, host: str, process: str) -> None:
        """Make a fresh worker known: ``process`` identifies it on its host."""
        with self._writing() as connection:
            connection.execute(
                insert(Worker).values(id=worker, host=host, process=process, started=Now())
            )

    def lease(self, campaign: CampaignRecord, worker: str, count: int, seconds: float) -> list[Lease]:
        """Grant up to ``count`` ready tasks for ``seconds``, largest estimated work first.

        Leases past their deadline go back to the queue first.
        """
        with self._writing() as connection:
            self._expire(connection, campaign.id, Attempt.deadline < Now())
            rows = connection.execute(
                select(Task.task_index, Task.work)
                .where(Task.campaign_id == campaign.id, Task.state == TaskState.READY)
                .order_by(Task.work.desc())
                .limit(count)
                .with_for_update(skip_locked=True)
            ).all()
            self._set_state(connection, campaign.id, [row.task_index for row in rows], TaskState.LEASED)
            leases = []
            for row in rows:
                attempt = connection.execute(
                    insert(Attempt).returning(Attempt.id).values(
                        campaign_id=campaign.id, task_index=row.task_index, worker_id=worker,
                        granted=Now(), deadline=Now() + seconds,
                    )
                ).scalar_one()
                leases.append(Lease(attempt, row.task_index, row.work))
        return leases

    def renew(self, attempts: Iterable[int], seconds: float) -> set[int]:
        """Move the deadlines ``seconds`` from now; returns the attempts that still run.

        An attempt that has ended (expired, say) is left out: its worker may finish all the
        same, a late result is welcome.
        """
        chosen = list(attempts)
        with self._writing() as connection:
            running = Attempt.id.in_(chosen), Attempt.ended.is_(None)
            connection.execute(update(Attempt).where(*running).values(deadline=Now() + seconds))
            return set(connection.scalars(select(Attempt.id).where(*running)))

    def release(
        self, attempts: Iterable[int], outcome: Outcome = Outcome.RELEASED, note: str | None = None
    ) -> None:
        """Give tasks back unfinished; neither release nor preemption counts as a failure."""
        with self._writing() as connection:
            self._end(connection, Attempt.id.in_(list(attempts)), outcome, note)

    def release_worker(self, worker: str, note: str) -> int:
        """Expire all leases of a worker known to be dead; returns how many."""
        with self._writing() as connection:
            return self._end(connection, Attempt.worker_id == worker, Outcome.EXPIRED, note)

    def fail(self, attempt: int, reason: str) -> bool:
        """The task itself failed.  Returns whether it was set aside for failing too often."""
        with self._writing() as connection:
            row = connection.execute(
                select(Attempt.campaign_id, Attempt.task_index).where(Attempt.id == attempt)
            ).one()
            if not self._end(connection, Attempt.id == attempt, Outcome.FAILED, reason):
                return False
            key = Task.campaign_id == row.campaign_id, Task.task_index == row.task_index
            connection.execute(update(Task).where(*key).values(failures=Task.failures + 1))
            failures = connection.scalar(select(Task.failures).where(*key))
            if failures is None or failures < FAILURES_BEFORE_SET_ASIDE:
                return False
            self._set_state(connection, row.campaign_id, [row.task_index], TaskState.SET_ASIDE)
            self._record(
                connection, row.campaign_id, EventKind.SET_ASIDE, row.task_index, attempt, reason
            )
            return True

    def reopen(self, campaign: CampaignRecord) -> int:
        """Make the tasks that were set aside ready again; returns how many."""
        with self._writing() as connection:
            reopened = connection.execute(
                update(Task)
                .where(Task.campaign_id == campaign.id, Task.state == TaskState.SET_ASIDE)
                .values(state=TaskState.READY, failures=0)
            )
            return reopened.rowcount

    def running(self, campaign: CampaignRecord) -> list[tuple[str, str, str]]:
        """(worker, host, process) of the workers that hold leases of the campaign."""
        with self._reading() as connection:
            return queries.lease_holders(connection, campaign.id)

    # -- results --------------------------------------------------------------------------

    def accept(
        self, attempt: int, result: PartialResult, expectation: Expectation, seconds: float, provenance: str
    ) -> EventKind | None:
        """Take the result of an attempt; at most one result per task counts.

        A result for a task already done confirms the first one or conflicts with it; a late
        result for a task not done yet counts.  Returns the kind of event, None when the
        result is the task's first.

        Raises CheckFailed when the result cannot be right; nothing is changed then.
        """
        expectation.check(result)
        with self._writing() as connection:
            row = connection.execute(
                select(Attempt.campaign_id, Attempt.task_index).where(Attempt.id == attempt)
            ).one()
            key = Result.campaign_id == row.campaign_id, Result.task_index == row.task_index
            first = connection.execute(select(Result.value, Result.attempt_id).where(*key)).one_or_none()
            if first is None:
                connection.execute(
                    insert(Result).values(
                        campaign_id=row.campaign_id, task_index=row.task_index, attempt_id=attempt,
                        value=str(result.value), residue=str(result.residue),
                        evaluated=str(result.evaluated), seconds=seconds, provenance=provenance,
                        accepted=Now(),
                    )
                )
                self._end(connection, Attempt.id == attempt, Outcome.DONE, None)
                self._set_state(connection, row.campaign_id, [row.task_index], TaskState.DONE)
                return None
            self._end(connection, Attempt.id == attempt, Outcome.SUPERSEDED, None)
            if first.attempt_id == attempt:
                return None
            kind = EventKind.CONFIRMED if first.value == str(result.value) else EventKind.CONFLICT
            self._record(
                connection, row.campaign_id, kind, row.task_index, attempt,
                f"{result.value} by attempt {attempt}, {first.value} by attempt {first.attempt_id}",
            )
            return kind

    def results(self, campaign: CampaignRecord) -> list[PartialResult]:
        """All accepted results; raises ConflictingResults when a conflict is on record."""
        with self._reading() as connection:
            conflicts = queries.conflicts(connection, campaign.id)
            if conflicts:
                raise ConflictingResults(
                    f"{len(conflicts)} tasks of {campaign.name} have conflicting results (first: task "
                    f"{conflicts[0][0]}, {conflicts[0][1]}): evaluate them on a machine you trust"
                )
            return queries.results(connection, campaign.id)

    # -- views ----------------------------------------------------------------------------

    def progress(self, campaign: CampaignRecord) -> Progress:
        """How far the campaign is."""
        with self._reading() as connection:
            return queries.progress(connection, campaign.id)

    def tasks(self, campaign: CampaignRecord, state: str | None = None) -> list[TaskRecord]:
        """All tasks, or those in one state, by index."""
        with self._reading() as connection:
            return queries.tasks(connection, campaign.id, state)

    # -- within a transaction -------------------------------------------------------------

    def _expire(self, connection: Connection, campaign: int, overdue: object) -> None:
        self._end(connection, (Attempt.campaign_id == campaign) & overdue, Outcome.EXPIRED, None)

    def _end(self, connection: Connection, which: object, outcome: Outcome, note: str | None) -> int:
        """End running attempts; their tasks are ready again unless done.  Returns how many."""
        ended = connection.execute(
            update(Attempt)
            .where(which, Attempt.ended.is_(None))  # type: ignore[arg-type]
            .values(ended=Now(), outcome=outcome, note=note)
            .returning(Attempt.campaign_id, Attempt.task_index)
        ).all()
        for campaign in {row.campaign_id for row in ended}:
            indices = [row.task_index for row in ended if row.campaign_id == campaign]
            self._set_state(connection, campaign, indices, TaskState.READY, TaskState.LEASED)
        return len(ended)

    def _set_state(
        self, connection: Connection, campaign: int, indices: list[int], state: TaskState,
        only: TaskState | None = None,
    ) -> None:
        for start in range(0, len(indices), BULK_ROWS):
            chosen = update(Task).where(
                Task.campaign_id == campaign, Task.task_index.in_(indices[start : start + BULK_ROWS])
            )
            if only is not None:
                chosen = chosen.where(Task.state == only)
            connection.execute(chosen.values(state=state))

    def _record(
        self, connection: Connection, campaign: int, kind: EventKind,
        task: int | None = None, attempt: int | None = None, detail: str = "",
    ) -> None:
        connection.execute(
            insert(Event).values(
                campaign_id=campaign, task_index=task, attempt_id=attempt, at=Now(), kind=kind, detail=detail
            )
        )
