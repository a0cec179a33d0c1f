"""One campaign of a ledger: every change of state is one method here and one transaction.

A worker holds *leases*; the id of the attempt is the fencing token, and whoever changes an attempt shows its
nonce.  A task is either done, its result committed, or it can be leased again: no failure of a worker changes that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from db import acceptance, queries, tokens, transitions
from db.database import retried
from db.errors import ConflictingResults, UntrustedResults
from db.exports import Export
from db.leasing import LeasedTasks
from db.records import (
    Delivery,
    Progress,
    Receipt,
    Standing,
    TaskRecord,
    TokenRecord,
)
from db.states import Role
from langford.methods import Plan, PlanKey, plan_of
from langford.problem import Problem
from langford.result import PartialResult


class Campaign(LeasedTasks):
    """A campaign, bound to its database.  Methods raise the errors of :mod:`db.errors`.

    No method touches the attempts of another campaign, and none but :meth:`release_worker` and :meth:`take_back`
    those whose nonce is not shown.

    Attributes:
        database: where the campaign is kept.
        record: the campaign as it was when it was opened, with the changes that this object has made.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Campaign) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[str, int]:
        return self.database.where, self.campaign_id

    # -- identity -------------------------------------------------------------------------

    @property
    def uuid(self) -> str:
        """Its random UUID, unique among the campaigns of all ledgers."""
        return self.record.uuid

    @property
    def name(self) -> str:
        """Its name, unique in the ledger."""
        return self.record.name

    @property
    def key(self) -> PlanKey:
        """Its plan's identity: problem, method, depth and seed."""
        return self.record.key

    @property
    def problem(self) -> Problem:
        """What it counts."""
        return self.record.key.problem

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return self.record.tasks

    @property
    def work(self) -> float:
        """Estimated work of all tasks, in the method's unit."""
        return self.record.work

    @property
    def created(self) -> float:
        """When it was created, in seconds since 1970."""
        return self.record.created

    @property
    def recheck_share(self) -> float:
        """Share of the results that another worker evaluates again."""
        return self.record.recheck_share

    def set_recheck_share(self, share: float) -> None:
        """Choose the share of later results that another worker evaluates again, from 0 to 1."""
        with self.database.writing() as connection:
            transitions.set_recheck_share(connection, self.campaign_id, share)
        self.record = replace(self.record, recheck_share=share)

    @cached_property
    def plan(self) -> Plan:
        """The plan, whose expectations every result must satisfy; a simulation may assign another plan."""
        return plan_of(self.key)

    # -- results --------------------------------------------------------------------------

    @retried
    def deliver(self, deliveries: Sequence[Delivery]) -> list[Receipt]:
        """Take results, all in one transaction; at most one result per task counts.

        - The first result of a task counts, even when its lease has expired.
        - A result of a task that is done confirms the first one or conflicts with it (:mod:`db.replication`).
        - A result that fails the checks of the plan is refused, and is a failure of its task.
        - A result without the nonce of an attempt at its task is refused, and changes nothing.
        """
        with self.database.writing() as connection:
            return acceptance.accept(connection, self.record, self.plan, deliveries)

    def export(self) -> Export:
        """All accepted results, to be written to a file."""
        with self.database.reading() as connection:
            evaluations = queries.evaluations(connection, self.campaign_id)
        return Export(self.name, self.key, self.tasks, tuple(evaluations))

    def results(self) -> list[PartialResult]:
        """All accepted results, by task; raises ConflictingResults or UntrustedResults."""
        with self.database.reading() as connection:
            conflicts = queries.conflicts(connection, self.campaign_id)
            if conflicts:
                raise ConflictingResults(
                    f"{len(conflicts)} tasks of {self.name} have conflicting results (first: task "
                    f"{conflicts[0][0]}, {conflicts[0][1]}): run another worker, whose result decides: "
                    f"{self._another_worker}"
                )
            untrusted = queries.untrusted(connection, self.campaign_id)
            if untrusted:
                raise UntrustedResults(
                    f"{len(untrusted)} results of {self.name} come from workers that others found wrong "
                    f"(first: task {untrusted[0]}): run another worker, which evaluates them again: "
                    f"{self._another_worker}"
                )
            return queries.results(connection, self.campaign_id)

    @property
    def _another_worker(self) -> str:
        """The command that starts another worker for the campaign."""
        problem = self.problem
        copies = "" if problem.copies == 2 else f" --copies {problem.copies}"
        seed = f" --seed {self.key.seed}" if self.key.seed else ""
        plan = f"--method {self.key.method} --depth {self.key.depth}{seed}"
        return f"`langford run {problem.variant} {problem.n}{copies} {plan} --name {self.name}` on this ledger"

    # -- views ----------------------------------------------------------------------------

    def progress(self) -> Progress:
        """How far the campaign is."""
        with self.database.reading() as connection:
            return queries.progress(connection, self.record)

    def standing(self) -> Standing:
        """Tasks and work by state: the cheap part of :meth:`progress`."""
        with self.database.reading() as connection:
            return queries.standing(connection, self.record)

    def rechecks(self) -> int:
        """Number of tasks with a result that wait for another worker to evaluate them again."""
        with self.database.reading() as connection:
            return queries.rechecks(connection, self.campaign_id, waiting=True)

    def task_records(self, state: str | None = None) -> list[TaskRecord]:
        """All tasks, or those in one state, by index."""
        with self.database.reading() as connection:
            return queries.tasks(connection, self.campaign_id, state)

    # -- tokens ---------------------------------------------------------------------------

    def new_token(self, role: Role, seconds: float | None = None, label: str = "") -> str:
        """A fresh token that opens this campaign to its bearer; the ledger keeps only its SHA-256.

        Args:
            role: what its bearer may do.
            seconds: how long it is valid; None: until it is revoked.
            label: what it is for.
        """
        with self.database.writing() as connection:
            return tokens.new_token(connection, self.campaign_id, role, seconds, label)

    def tokens(self) -> list[TokenRecord]:
        """The tokens of the campaign, oldest first, those that have expired among them."""
        with self.database.reading() as connection:
            return tokens.listed(connection, self.campaign_id)

    def revoke_token(self, token_id: int) -> bool:
        """Delete one token; returns whether there was one of this number."""
        with self.database.writing() as connection:
            return tokens.revoke_token(connection, self.campaign_id, token_id)

    def revoke_tokens(self) -> int:
        """Delete all tokens of the campaign; returns how many there were."""
        with self.database.writing() as connection:
            return tokens.revoke_tokens(connection, self.campaign_id)

    def role_of(self, token: str) -> Role | None:
        """What the bearer of a token may do with the campaign; None when the campaign has no such token."""
        with self.database.reading() as connection:
            return tokens.role_of(connection, self.campaign_id, token)
