"""The ledger: the campaigns of a database, and its workers."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Self

from sqlalchemy import Connection, false, update

from db.campaign.campaign import Campaign
from db.errors import CampaignMismatch
from db.files.exports import Export, origin
from db.records import CampaignRecord, Right
from db.schema import models
from db.schema.dialects import Now, insert_new
from db.states import EventKind, VoterKind, require_name
from db.store.database import Database, retried
from db.store.transaction import Transaction
from db.trust import acceptance, draw, enrolment
from db.work import catalogue, tokens, transitions
from langford.methods import Plan, PlanKey
from langford.words import several


class Ledger:
    """An open ledger: close it, or use it as a context manager.  Methods raise the errors of :mod:`db.errors`."""

    def __init__(self, where: str, create: bool = False, now: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            where: a file name or database URL.
            create: whether an empty or absent database becomes a new ledger.
            now: a monotonic clock, in seconds; it limits how often the ledger looks at what changes slowly.
        """
        self.database = Database(where, create, now=now)

    @property
    def uuid(self) -> str:
        """The ledger's random UUID, which its copies share."""
        return self.database.uuid

    def require_writable(self) -> None:
        """Raises LedgerReadOnly where this process may only read."""
        with self.database.writing() as connection:
            connection.execute(update(models.Attempt).where(false()).values(note=None))

    @retried
    def create_campaign(self, name: str, key: PlanKey, work: Sequence[float]) -> Campaign:
        """Create a campaign with all its tasks in one transaction, or return it if it exists.

        Args:
            name: of the campaign.
            key: its plan.
            work: of each task, in the method's unit.

        Raises CampaignMismatch when another campaign has the name, and BadName.
        """
        with self.database.writing() as connection:
            record = self._require_campaign(connection, name, key, work)
        return Campaign(self.database, record)

    def _require_campaign(
        self, connection: Connection, name: str, key: PlanKey, work: Sequence[float], share: float = 0.0
    ) -> CampaignRecord:
        """Raises BadName or CampaignMismatch; ``share``: of the results that are to be replicated, if it is
        created.
        """
        record = catalogue.campaign(connection, name)
        if record is None:
            # None when another transaction was faster: the insertion has waited for that one to end.
            campaign_id = connection.execute(
                insert_new(connection.dialect.name, models.Campaign)
                .returning(models.Campaign.id)
                .values(
                    uuid=str(uuid.uuid4()),
                    name=require_name(name),
                    problem=key.problem.name,
                    method=key.method,
                    depth=key.depth,
                    seed=key.seed,
                    tasks=len(work),
                    work=float(sum(work)),
                    created=Now(),
                    recheck_share=share,
                )
            ).scalar_one_or_none()
            if campaign_id is not None:
                transaction = Transaction(connection, campaign_id)
                transitions.insert_tasks(transaction, work)
                transitions.record(transaction, EventKind.CREATED)
            record = catalogue.campaign(connection, name)
        assert record is not None
        if (record.key, record.tasks) != (key, len(work)):
            raise CampaignMismatch(
                f"campaign {name!r} in {self.database.where} is {record.key}, not {key}: give this one another "
                "name, rename that one with `langford rename`, or use another ledger"
            )
        return record

    @retried
    def take(
        self, export: Export, plan: Plan, worker_id: str, host: str, process: str, source: str = "another ledger"
    ) -> tuple[Campaign, list[EventKind | None]]:
        """Take exported results as attempts of a new worker, all in one transaction.

        The campaign is created unless it exists.  Results are accepted as in :meth:`db.WorkerCampaign.deliver`, but
        are no votes where results disagree.  A result that this ledger imported or exported before is skipped: an
        import may be repeated.

        The campaign promises the share that the export promises, unless it promises more already.  Results that
        are drawn wait for votes in this ledger, even if they were confirmed elsewhere
        (:mod:`db.trust.draw`).

        Args:
            export: the results, and their promise.
            plan: that of the export.
            worker_id, host, process: of the importer, see :class:`db.identity.Identity`.
            source: where they come from, for people.

        Returns the campaign, and the events of the results that were not skipped.  Raises CampaignMismatch, or
        CheckFailed when a result contradicts itself; then nothing is changed.
        """
        for evaluation in export.results:
            plan.expectation(evaluation.result.index).check(evaluation.result)
        with self.database.writing() as connection:
            share = 0.0 if export.promise is None else export.promise.share
            record = self._require_campaign(connection, export.name, export.key, plan.work.tolist(), share)
            transaction = Transaction(connection, record.campaign_id)
            before, record = record, draw.raise_share(transaction, record, share) if share else record
            new = acceptance.unknown(transaction, export.results)
            if new:
                enrolment.insert_worker(connection, worker_id, host, process, kind=VoterKind.IMPORT)
            receipts = acceptance.take(transaction, record, plan, worker_id, new, origin, export.computations)
            if export.promise is not None:
                draw.draw(transaction, export.promise.drawn)
            if new or record != before:
                promise = draw.stated(export.promise)
                all_of_it = several(len(export.results), "result is", "results are")
                detail = f"{len(new)} of {all_of_it} new here; they come from {source}; {promise}"
                transitions.record(transaction, EventKind.IMPORT, None, None, detail)
        return Campaign(self.database, record), [receipt.event for receipt in receipts]

    def has(self, name: str) -> bool:
        """Whether a campaign has the name."""
        with self.database.reading() as connection:
            return catalogue.campaign(connection, name) is not None

    def campaign(self, name: str, /) -> Campaign:
        """Raises NoSuchCampaign."""
        with self.database.reading() as connection:
            record = catalogue.required_campaign(connection, name, self.database.where)
        return Campaign(self.database, record)

    def campaigns(self) -> Sequence[Campaign]:
        """Oldest first."""
        with self.database.reading() as connection:
            return [Campaign(self.database, record) for record in catalogue.campaigns(connection)]

    def rights(self, shown: Collection[str]) -> list[Right]:
        """What the bearer of some tokens may do, in all campaigns: a single query, whatever their number."""
        with self.database.reading() as connection:
            return tokens.rights(connection, shown)

    def charge(self, used: Mapping[str, float]) -> None:
        """Add processor time that requests took, in seconds, to their tokens, by their digests."""
        tokens.charge(self.database, used)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
