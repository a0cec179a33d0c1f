"""The ledger: every change of state is one method here and one transaction.

A worker holds *leases*; the id of the attempt is the fencing token.  Whatever happens to a
worker, a task is either done (its result is committed), or it can be leased again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import insert, select, update

from db import acceptance, queries, replication, transitions
from db.clock import Now
from db.errors import CampaignMismatch, ConflictingResults, NoSuchCampaign, UntrustedResults
from db.exports import Export
from db.models import Attempt, Campaign, Task, Worker
from db.queries import origin
from db.records import CampaignRecord, Delivery, Lease, Progress, TaskRecord
from db.states import EventKind, Outcome, TaskState
from db.tokens import TokenRegister
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
                    insert(Campaign)
                    .returning(Campaign.id)
                    .values(
                        name=name,
                        problem=problem.name,
                        method=method,
                        depth=depth,
                        tasks=len(work),
                        work=float(sum(work)),
                        created=Now(),
                    )
                ).scalar_one()
                transitions.insert_tasks(connection, identity, work)
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

    def replicate(self, campaign: CampaignRecord, share: float) -> CampaignRecord:
        """Have this share of the results to come evaluated again by another worker."""
        with self._writing() as connection:
            connection.execute(update(Campaign).where(Campaign.id == campaign.id).values(replicate=share))
        return self.campaign(campaign.name)

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

    def enrol(self, worker: str, host: str, process: str, kernel: str = "cpu") -> None:
        """Make a fresh worker known: ``process`` identifies it on its host, ``kernel`` is "cpu" or "cuda".

        Saying it twice is harmless.
        """
        with self._writing() as connection:
            if connection.scalar(select(Worker.id).where(Worker.id == worker)) is None:
                connection.execute(
                    insert(Worker).values(id=worker, host=host, process=process, started=Now(), kernel=kernel)
                )

    def lease(self, campaign: CampaignRecord, worker: str, count: int, seconds: float) -> list[Lease]:
        """Grant up to ``count`` tasks for ``seconds``: rechecks of other workers' results, then ready
        tasks, largest estimated work first.

        Leases past their deadline go back to the queue first.  Raises WorkerDistrusted.
        """
        with self._writing() as connection:
            transitions.end(connection, transitions.EXPIRED, Outcome.EXPIRED, None)
            rechecks = replication.claim(connection, campaign.id, worker, count, seconds)
            ready = transitions.claim(connection, campaign.id, worker, count - len(rechecks), seconds)
        return [*rechecks, *ready]

    def own_attempts(self, campaign: CampaignRecord, attempts: Sequence[int]) -> list[int]:
        """Those of the attempts that belong to the campaign."""
        with self._reading() as connection:
            return list(queries.attempts(connection, campaign.id, list(attempts)))

    def renew(self, attempts: Iterable[int], seconds: float) -> set[int]:
        """Move the deadlines ``seconds`` from now; returns the attempts that still run.

        An attempt that has ended (expired, say) is left out: its worker may finish all the
        same, a late result is welcome.
        """
        with self._writing() as connection:
            return transitions.renew(connection, list(attempts), seconds)

    def release(
        self, attempts: Iterable[int], outcome: Outcome = Outcome.RELEASED, note: str | None = None
    ) -> None:
        """Give tasks back unfinished; neither release nor preemption counts as a failure."""
        with self._writing() as connection:
            transitions.end(connection, transitions.CHOSEN, outcome, note, attempts=list(attempts))

    def release_worker(self, worker: str, note: str) -> int:
        """Expire all leases of a worker known to be dead; returns how many."""
        with self._writing() as connection:
            return transitions.end(connection, transitions.OF_WORKER, Outcome.EXPIRED, note, worker=worker)

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

        A result for a task already done confirms the first one or conflicts with it
        (:mod:`db.replication`); a late result for a task not done yet counts; one that fails the
        checks of ``plan`` is refused, a failure of its task.  Returns the kind of event of each delivery, None
        where the result is the task's first or the same delivery came twice.
        """
        with self._writing() as connection:
            return acceptance.accept(connection, campaign, plan, deliveries)

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
                insert(Attempt)
                .returning(Attempt.id, sort_by_parameter_order=True)
                .values(granted=Now(), deadline=Now()),
                [
                    {
                        "campaign_id": campaign.id,
                        "task_index": each.result.index,
                        "worker_id": worker,
                        "note": origin(each),
                    }
                    for each in new
                ],
            ).all()
            deliveries = [
                Delivery(attempt, each.result, each.seconds, each.provenance)
                for attempt, each in zip(attempts, new, strict=True)
            ]
            return acceptance.accept(connection, campaign, plan, deliveries)

    def exported(self, campaign: CampaignRecord) -> Export:
        """All accepted results of a campaign, to be written to a file."""
        with self._reading() as connection:
            return Export(
                campaign.name,
                campaign.problem,
                campaign.method,
                campaign.depth,
                campaign.tasks,
                tuple(queries.exported(connection, campaign.id)),
            )

    def results(self, campaign: CampaignRecord) -> list[PartialResult]:
        """All accepted results; raises ConflictingResults or UntrustedResults."""
        with self._reading() as connection:
            conflicts = queries.conflicts(connection, campaign.id)
            if conflicts:
                raise ConflictingResults(
                    f"{len(conflicts)} tasks of {campaign.name} have conflicting results (first: task "
                    f"{conflicts[0][0]}, {conflicts[0][1]}): run another worker, whose result decides"
                )
            untrusted = queries.untrusted(connection, campaign.id)
            if untrusted:
                raise UntrustedResults(
                    f"{len(untrusted)} results of {campaign.name} come from workers that others found wrong "
                    f"(first: task {untrusted[0]}): run another worker, which evaluates them again"
                )
            return queries.results(connection, campaign.id)

    # -- views ----------------------------------------------------------------------------

    def progress(self, campaign: CampaignRecord) -> Progress:
        """How far the campaign is."""
        with self._reading() as connection:
            return queries.progress(connection, campaign)

    def standing(self, campaign: CampaignRecord) -> tuple[dict[str, int], dict[str, float]]:
        """Tasks and work by state: what of :meth:`progress` costs little."""
        with self._reading() as connection:
            return queries.standing(connection, campaign)

    def rechecks(self, campaign: CampaignRecord) -> int:
        """Tasks with a result that wait for another worker's."""
        with self._reading() as connection:
            return queries.rechecks(connection, campaign.id, waiting=True)

    def tasks(self, campaign: CampaignRecord, state: str | None = None) -> list[TaskRecord]:
        """All tasks, or those in one state, by index."""
        with self._reading() as connection:
            return queries.tasks(connection, campaign.id, state)
