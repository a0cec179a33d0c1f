"""What the ledger has of a campaign: its record, its plan, and transactions on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from db.files.reading import agreed_plan
from db.records import CampaignRecord
from db.store.database import Database
from db.store.transaction import Transaction
from db.work import catalogue
from langford.methods import Plan, PlanKey
from langford.problem import Problem


class StoredCampaign:
    """A campaign, bound to its database.  Methods raise the errors of :mod:`db.errors`.

    Attributes:
        database: an open one.
        record: what the ledger says of it, when that was last read.
    """

    def __init__(self, database: Database, record: CampaignRecord) -> None:
        """:meth:`db.Ledger.campaign` gives one.

        Args:
            database: an open one.
            record: of the campaign in it.
        """
        self.database, self.record = database, record

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredCampaign) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[str, int]:
        return self.database.where, self.campaign_id

    @property
    def campaign_id(self) -> int:
        return self.record.campaign_id

    @property
    def uuid(self) -> str:
        """Its random UUID, unique among the campaigns of all ledgers."""
        return self.record.uuid

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def key(self) -> PlanKey:
        return self.record.key

    @property
    def problem(self) -> Problem:
        return self.record.key.problem

    @property
    def tasks(self) -> int:
        return self.record.tasks

    @property
    def work(self) -> float:
        return self.record.work

    @property
    def created(self) -> float:
        return self.record.created

    @property
    def recheck_share(self) -> float:
        return self.record.recheck_share

    @cached_property
    def plan(self) -> Plan:
        """How its problem was split into tasks; a simulation may assign another plan.

        Raises the errors of :func:`db.files.reading.agreed_plan` if another version has split it in another way.
        """
        return agreed_plan(self.name, self.key, self.tasks)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """One transaction that may write; raises NoSuchCampaign when the campaign was deleted."""
        with self.database.writing() as connection:
            catalogue.require_undeleted(connection, self.record)
            yield Transaction(connection, self.campaign_id)

    @contextmanager
    def reading(self, snapshot: bool = False) -> Iterator[Transaction]:
        """See :meth:`db.Database.reading`; raises NoSuchCampaign when the campaign was deleted."""
        with self.database.reading(snapshot=snapshot) as connection:
            catalogue.require_undeleted(connection, self.record)
            yield Transaction(connection, self.campaign_id)

    def refresh(self) -> None:
        """Read again what others may have changed: its name and its share; raises NoSuchCampaign."""
        with self.database.reading() as connection:
            self.record = catalogue.present(connection, self.record)
