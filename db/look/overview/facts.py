"""What an overview is made of: rows of the ledger, read at one moment, and what follows from them alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any

from sqlalchemy import Row, func, select

from db.look import progress
from db.look.figures import attempts
from db.look.figures.attempts import CutShort, Ended
from db.look.figures.speeds import RunningAttempt
from db.look.overview import worker_queries
from db.look.overview.records import WorkerState
from db.records import CampaignRecord, Standing
from db.schema.dialects import Now
from db.schema.models import Attempt, Campaign
from db.states import VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import waiting
from db.work import leases
from db.work.presence import RESTING_SECONDS

SILENT_SECONDS = 150.0
"""A worker makes a request at least every minute, or when half of its lease is over."""
GONE_SECONDS = 3600.0
"""Time after which a silent worker without leases counts as ended."""
_NOW = select(
    Campaign.name,
    Campaign.recheck_share,
    Now().label("now"),
    select(func.count())
    .select_from(
        select(Attempt.id).where(Attempt.campaign_id == CAMPAIGN).limit(worker_queries.FEW_ATTEMPTS).subquery()
    )
    .scalar_subquery()
    .label("attempts"),
).where(Campaign.id == CAMPAIGN)


@dataclass(frozen=True)
class Facts:
    campaign: CampaignRecord  # with the name and the share that it has now
    now: float
    standing: Standing
    sizes: progress.Sizes | None  # of the tasks that are not done; None: they are of very many sizes
    # everybody, running: see db.look.overview.worker_queries; ended, cut_short: see db.look.figures.attempts
    everybody: Sequence[Row[Any]]
    running: Sequence[RunningAttempt]
    ended: Sequence[Ended]
    cut_short: Sequence[CutShort]
    conflicts: Sequence[int]  # the tasks whose results disagree
    rechecks: Mapping[int, float]  # work of the tasks whose results wait to be evaluated again

    @classmethod
    def read(cls, transaction: Transaction, campaign: CampaignRecord) -> Facts:
        known = transaction.execute(_NOW).one()
        sizes = progress.sizes(transaction)
        standing = progress.standing(transaction, campaign, sizes)
        began, few = known.attempts > 0, known.attempts < worker_queries.FEW_ATTEMPTS
        # A ledger may have thousands of campaigns that nobody has begun: these are queries for each of them.
        everybody = worker_queries.workers(transaction, few) if began else []
        ids = {row.id for row in everybody}
        ended = list(attempts.ended(transaction, ids, few)) if ids else []
        unfinished = {each.worker for each in ended if not each.all_brought_results}
        return cls(
            replace(campaign, name=known.name, recheck_share=known.recheck_share),
            known.now,
            standing,
            sizes,
            everybody,
            worker_queries.running(transaction) if began else [],
            ended,
            list(attempts.cut_short(transaction, unfinished, few)),
            waiting.in_conflict(transaction) if began else [],
            leases.task_work(transaction, waiting.tasks(transaction)) if standing.rechecks else {},
        )

    @cached_property
    def workers(self) -> list[Row[Any]]:
        """Without those of imports and of the operator."""
        return [row for row in self.everybody if row.kind in (None, VoterKind.WORKER)]

    @cached_property
    def held(self) -> Counter[str]:
        """How many leases each worker holds."""
        return Counter(attempt.worker for attempt in self.running)

    @cached_property
    def delivered(self) -> Counter[str]:
        """How many results each worker delivered: first ones of their tasks, further ones, and late ones."""
        numbers: Counter[str] = Counter()
        for each in self.ended:
            numbers[each.worker] += each.done + each.further
        for part in self.cut_short:
            numbers[part.worker] += part.late
        return numbers

    @cached_property
    def presence(self) -> dict[str, WorkerState]:
        lease_seconds = {attempt.worker: attempt.seconds for attempt in self.running}
        return {row.id: self._presence(row, lease_seconds.get(row.id, 0.0)) for row in self.workers}

    def _presence(self, worker: Row[Any], lease_seconds: float) -> WorkerState:
        held = self.held[worker.id]
        if worker.distrusted is not None:
            return WorkerState.DISTRUSTED
        if worker.ended is not None and not held:
            return WorkerState.ENDED
        silence = abs(self.now - last_seen(worker))  # later than now: the clock was ahead and has been set back
        longest = RESTING_SECONDS if worker.token else inf
        if silence <= max(SILENT_SECONDS, min(lease_seconds / 2, longest)):
            return WorkerState.WORKING if held else WorkerState.IDLE
        return WorkerState.SILENT if held or silence <= GONE_SECONDS else WorkerState.ENDED

    @cached_property
    def present(self) -> list[Row[Any]]:
        return [row for row in self.workers if self.presence[row.id].is_present]

    @property
    def again(self) -> set[int]:
        """The tasks that are done, and are being evaluated again."""
        return {attempt.task for attempt in self.running if attempt.again}

    @property
    def finished(self) -> float | None:
        """When the last attempt ended; None while anything is left."""
        left = self.standing.missing or self.rechecks or self.conflicts
        return None if left else self.last_ended

    @property
    def last_ended(self) -> float:
        ends = (row.last_ended for row in self.everybody if row.last_ended is not None)
        return max(ends, default=self.campaign.created)


def last_seen(worker: Row[Any]) -> float:
    """Its last request is known to about five seconds: an attempt of it may have ended since."""
    return max(float(at) for at in (worker.last_seen, worker.last_ended, worker.started) if at is not None)
