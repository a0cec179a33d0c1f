"""The whole history of a campaign, from which reports are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select

from db.look.figures.campaign import CampaignFigures, measured
from db.look.figures.rows import LedgerRows
from db.records import CampaignRecord, EventRecord
from db.schema.models import Attempt, Event, Voter, Worker
from db.states import EventKind, VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import waiting
from db.work.computations import IMPORTED
from langford.methods import PlanKey

MAX_EVENTS = 1_000


@dataclass(frozen=True)
class History:
    """A campaign with its figures, workers and events."""

    name: str
    uuid: str | None  # UUID of the campaign; None: read from an export, which does not contain it
    key: PlanKey
    now: float
    source: str  # the ledger or file from which it was read, without passwords
    figures: CampaignFigures
    # all_workers, imported_workers: number of workers with attempts, and of those known from exports; 0: nobody
    # worked, or only results are known
    all_workers: int
    imported_workers: int
    hosts: frozenset[str]  # of all workers
    # Up to a thousand events except confirmations, oldest first; None: only results are known
    events: tuple[EventRecord, ...] | None
    event_counts: Mapping[str, int]
    conflicts: tuple[int, ...]  # tasks whose results disagree and are not settled

    @property
    def tasks(self) -> int:
        return self.figures.tasks

    @property
    def tells_losses(self) -> bool:
        """Whether attempts without a result, further results and events are known."""
        if self.events is None:
            return False
        if not self.all_workers:
            return not self.figures.done
        return self.imported_workers < self.all_workers


_EVENTS = (
    select(Event.at, Event.kind, Event.task_index, Event.detail)
    .where(Event.campaign_id == CAMPAIGN, Event.kind != EventKind.CONFIRMED)
    .order_by(Event.id)
    .limit(MAX_EVENTS)
)


def history(transaction: Transaction, campaign: CampaignRecord, where: str, work: NDArray[np.float64]) -> History:
    """The history of a campaign; imported results without times have no attempts in it.

    ``work``: estimated work of every task, in the method's unit, float64[tasks].
    """
    rows, hosts = _rows(transaction)
    figures = measured(rows, work)
    counts = transaction.execute(
        select(Event.kind, func.count()).where(Event.campaign_id == CAMPAIGN).group_by(Event.kind)
    ).all()
    return History(
        name=campaign.name,
        uuid=campaign.uuid,
        key=campaign.key,
        now=rows.now,
        source=where,
        figures=figures,
        all_workers=len(rows.places),
        imported_workers=len(rows.imported),
        hosts=frozenset(hosts),
        events=tuple(EventRecord(*row) for row in transaction.execute(_EVENTS)),
        event_counts={row[0]: row[1] for row in counts},
        conflicts=tuple(waiting.in_conflict(transaction)),
    )


_TAKEN = select(Attempt.worker_id).distinct().where(Attempt.campaign_id == CAMPAIGN)
_EVERYBODY = (
    select(Worker.id, Worker.host, Worker.process, Worker.processes, Worker.device_model, Voter.kind)
    .outerjoin(Voter, Voter.id == Worker.voter_id)
    .where(Worker.id.in_(_TAKEN))
    .order_by(Worker.started, Worker.id)
)


def _rows(transaction: Transaction) -> tuple[LedgerRows, set[str]]:
    """(the rows of a campaign, the hosts of its workers)."""
    ids, devices, models = list[str](), list[int | None](), list[str | None]()
    hosts, imported, left_out = set[str](), list[int](), list[str]()
    names: dict[str | None, str | None] = {}  # each kept once: a campaign may have 100,000 workers
    for row in transaction.execute(_EVERYBODY):
        if row.process == IMPORTED:
            imported.append(len(ids))
        elif row.kind == VoterKind.IMPORT:
            left_out.append(row.id)  # it stands for a whole file
            continue
        ids.append(row.id)
        devices.append(row.processes)
        models.append(names.setdefault(row.device_model, row.device_model))
        hosts.add(row.host)
    places = {worker: place for place, worker in enumerate(ids)}
    tells_losses = len(imported) < len(ids)
    return LedgerRows(transaction, places, imported, devices, models, left_out, tells_losses), hosts
