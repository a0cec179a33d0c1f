"""The ledger: every change of state is one method here and one transaction.

A worker holds *leases*; the id of the attempt is the fencing token.  Whatever happens to a
worker, a task is either done (its result is committed), or it can be leased again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, insert, select, update

from db import queries, transitions
from db.clock import Now
from db.errors import CampaignMismatch, ConflictingResults, NoSuchCampaign
from db.exports import Export
from db.models import Attempt, Campaign, Task, Worker
from db.queries import origin
from db.records import CampaignRecord, Delivery, Lease, Progress, TaskRecord
from db.states import EventKind, Outcome, TaskState
from db.tokens import TokenRegister
from db.transitions import BULK_ROWS
from langford.errors import CheckFailed
from langford.methods import Plan
from langford.problem import Problem
from langford.result import Evaluation, PartialResult


class Ledger(TokenRegister):
    """An open ledger.  Methods raise the errors of :mod:`db.errors`."""

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
                transitions.record(connection, identity, EventKind.CREATED)
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
        """Make a fresh worker known: ``process`` identifies it on its host.  Saying it twice is harmless."""
        with self._writing() as connection:
            if connection.scalar(select(Worker.id).where(Worker.id == worker)) is None:
                connection.execute(insert(Worker).values(id=worker, host=host, process=process, started=Now()))

    def lease(self, campaign: CampaignRecord, worker: str, count: int, seconds: float) -> list[Lease]:
        """Grant up to ``count`` ready tasks for ``seconds``, largest estimated work first.

        Leases past their deadline go back to the queue first.
        """
        with self._writing() as connection:
            transitions.expire(connection, campaign.id, Attempt.deadline < Now())
            rows = connection.execute(
                select(Task.task_index, Task.work)
                .where(Task.campaign_id == campaign.id, Task.state == TaskState.READY)
                .order_by(Task.work.desc())
                .limit(count)
                .with_for_update(skip_locked=True)
            ).all()
            transitions.set_state(connection, campaign.id, [row.task_index for row in rows], TaskState.LEASED)
            if not rows:
                return []
            attempts = connection.scalars(
                insert(Attempt).returning(Attempt.id, sort_by_parameter_order=True),
                [
                    {"campaign_id": campaign.id, "task_index": row.task_index, "worker_id": worker,
                     "granted": 0.0, "deadline": 0.0}
                    for row in rows
                ],
            ).all()
            connection.execute(
                update(Attempt).where(Attempt.id.in_(attempts)).values(granted=Now(), deadline=Now() + seconds)
            )
        return [
            Lease(attempt, row.task_index, row.work) for attempt, row in zip(attempts, rows, strict=True)
        ]

    def own_attempts(self, campaign: CampaignRecord, attempts: Sequence[int]) -> list[int]:
        """Those of the attempts that belong to the campaign."""
        with self._reading() as connection:
            return list(queries.attempts(connection, campaign.id, list(attempts)))

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
            transitions.end(connection, Attempt.id.in_(list(attempts)), outcome, note)

    def release_worker(self, worker: str, note: str) -> int:
        """Expire all leases of a worker known to be dead; returns how many."""
        with self._writing() as connection:
            return transitions.end(connection, Attempt.worker_id == worker, Outcome.EXPIRED, note)

    def fail(self, campaign: CampaignRecord, attempt: int, reason: str) -> bool:
        """The task itself failed.  Returns whether it was set aside for failing too often."""
        with self._writing() as connection:
            return transitions.fail(connection, campaign.id, attempt, reason)

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
        self, campaign: CampaignRecord, plan: Plan, deliveries: Sequence[Delivery]
    ) -> list[EventKind | None]:
        """Take results, all in one transaction; at most one result per task counts.

        A result for a task already done confirms the first one or conflicts with it; a late
        result for a task not done yet counts; one that fails the checks of ``plan`` is
        refused, a failure of its task.  Returns the kind of event of each delivery, None
        where the result is the task's first or the same delivery came twice.
        """
        with self._writing() as connection:
            return self._accept(connection, campaign, plan, deliveries)

    def take(
        self, campaign: CampaignRecord, plan: Plan, worker: str, imported: Sequence[Evaluation]
    ) -> list[EventKind | None]:
        """Take exported results as attempts of ``worker``, all in one transaction.

        Each counts as in :meth:`accept`.  One that this ledger took or exported before is
        passed over, so that an import may be repeated.  Returns the events of the others.
        Raises CheckFailed, and takes nothing, when one contradicts itself.
        """
        for each in imported:
            plan.expectation(each.result.index).check(each.result)
        with self._writing() as connection:
            seen = queries.origins(connection, campaign.id)
            new = [each for each in imported if (each.result.index, origin(each)) not in seen]
            if not new:
                return []
            attempts = connection.scalars(
                insert(Attempt).returning(Attempt.id, sort_by_parameter_order=True).values(
                    granted=Now(), deadline=Now()
                ),
                [
                    {"campaign_id": campaign.id, "task_index": each.result.index, "worker_id": worker,
                     "note": origin(each)}
                    for each in new
                ],
            ).all()
            deliveries = [
                Delivery(attempt, each.result, each.seconds, each.provenance)
                for attempt, each in zip(attempts, new, strict=True)
            ]
            return self._accept(connection, campaign, plan, deliveries)

    def exported(self, campaign: CampaignRecord) -> Export:
        """All accepted results of a campaign, to be written to a file."""
        with self._reading() as connection:
            return Export(
                campaign.name, campaign.problem, campaign.method, campaign.depth, campaign.tasks,
                tuple(queries.exported(connection, campaign.id)),
            )

    def _accept(
        self, connection: Connection, campaign: CampaignRecord, plan: Plan, deliveries: Sequence[Delivery]
    ) -> list[EventKind | None]:
        events: list[EventKind | None] = []
        fresh: list[Delivery] = []
        superseded: list[int] = []
        known = queries.values(connection, campaign.id, [each.result.index for each in deliveries])
        owned = queries.attempts(connection, campaign.id, [each.attempt for each in deliveries])
        for each in deliveries:
            index, value = each.result.index, str(each.result.value)
            if owned.get(each.attempt) != index:
                # Nobody leased this: a forgery, or a mix-up that must not end another task's attempt.
                events.append(EventKind.REFUSED)
                detail = f"no attempt {each.attempt} at task {index}"
                transitions.record(connection, campaign.id, EventKind.REFUSED, None, None, detail)
                continue
            try:
                plan.expectation(index).check(each.result)
            except CheckFailed as error:
                transitions.fail(connection, campaign.id, each.attempt, str(error))
                kind, detail = EventKind.REFUSED, str(error)
            else:
                if index not in known:
                    known[index] = value, each.attempt
                    fresh.append(each)
                if known[index] == (value, each.attempt):
                    events.append(None)
                    continue
                first, by = known[index]
                superseded.append(each.attempt)
                kind = EventKind.CONFIRMED if first == value else EventKind.CONFLICT
                detail = f"{value} by attempt {each.attempt}, {first} by attempt {by}"
            events.append(kind)
            transitions.record(connection, campaign.id, kind, index, each.attempt, detail)
        transitions.insert_results(connection, campaign, fresh)
        transitions.end(connection, Attempt.id.in_(superseded), Outcome.SUPERSEDED, None)
        return events

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

    def standing(self, campaign: CampaignRecord) -> tuple[dict[str, int], dict[str, float]]:
        """Tasks and work by state: what of :meth:`progress` costs little."""
        with self._reading() as connection:
            return queries.standing(connection, campaign.id)

    def tasks(self, campaign: CampaignRecord, state: str | None = None) -> list[TaskRecord]:
        """All tasks, or those in one state, by index."""
        with self._reading() as connection:
            return queries.tasks(connection, campaign.id, state)
