"""The rows of a campaign of a ledger, from which its figures follow: read in batches, in the order they need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
from sqlalchemy import func, select

from db.look.figures import attempts
from db.look.figures.attempts import Elapsed, LostAttempts, lost_by_outcome
from db.look.figures.campaign import AcceptedResults
from db.look.figures.occupancy import Spans
from db.schema.dialects import Now, among
from db.schema.models import Attempt, Result, Witness
from db.store.transaction import CAMPAIGN, Transaction

BATCH_ROWS = 1_000
_HERE = Attempt.campaign_id == CAMPAIGN, ~among(Attempt.worker_id, "left_out")
_RESULTS = (
    select(Result.task_index, Result.seconds, Result.accepted, Attempt.ended)
    .add_columns(Result.confirmed_by.is_not(None), Result.provenance, Attempt.worker_id)
    .join(Attempt, Attempt.id == Result.attempt_id)
    .where(Result.campaign_id == CAMPAIGN)
    .order_by(Result.task_index)
    .execution_options(yield_per=BATCH_ROWS)
)
_FURTHER = (
    select(func.count(), func.coalesce(func.sum(Witness.seconds), 0.0))
    .join(Attempt, Attempt.id == Witness.attempt_id)
    .where(Witness.campaign_id == CAMPAIGN, ~among(Attempt.worker_id, "left_out"))
)
_LAST = select(func.max(Attempt.ended), func.count() - func.count(Attempt.ended), func.count()).where(*_HERE)


_SPANS = (
    select(Attempt.worker_id, Attempt.granted, Attempt.ended, Attempt.began, Attempt.computed)
    .where(*_HERE)
    .order_by(Attempt.granted)
    .execution_options(yield_per=BATCH_ROWS)
)


@dataclass
class LedgerRows:
    """See :class:`db.look.figures.campaign.Rows`."""

    transaction: Transaction
    places: Mapping[str, int]  # the position of each worker, by its id
    imported: Sequence[int]  # of those that are known from exports
    devices: Sequence[int | None]
    models: Sequence[str | None]
    left_out: Sequence[str]  # ids of those that stand for a whole file
    tells_losses: bool  # whether anyone else than the imported ones computed
    sources: list[str] = field(default_factory=list)

    @cached_property
    def now(self) -> float:
        return float(self.transaction.scalar(select(Now())) or 0.0)

    @cached_property
    def _ends(self) -> tuple[Elapsed | None, tuple[LostAttempts, ...]]:
        ended = attempts.ended(self.transaction, self.places, few=True)
        cut = list(attempts.cut_short(self.transaction, self.places, few=True))
        timed = (each for each in ended if each.worker in self.places)
        return attempts.elapsed(chain(timed, cut)), lost_by_outcome(cut)

    @property
    def elapsed(self) -> Elapsed | None:
        return self._ends[0]

    @property
    def lost(self) -> tuple[LostAttempts, ...] | None:
        return self._ends[1] if self.tells_losses else None

    @cached_property
    def last_held(self) -> float | None:
        last, running, number = self.transaction.execute(_LAST, left_out=self.left_out).one()
        if not number:
            return None
        return max(last or 0.0, self.now if running else 0.0)

    def results(self) -> Iterator[AcceptedResults]:
        known: dict[str, int] = {}
        for rows in self.transaction.execute(_RESULTS).partitions():
            task, seconds, accepted, ended, confirmed, source, worker = zip(*rows, strict=True)
            for text in source:
                if known.setdefault(text, len(known)) == len(self.sources):
                    self.sources.append(text)
            places = np.array([self.places.get(each, -1) for each in worker], np.int32)
            # An imported result was accepted when its file was read, not when it was computed.
            arrived = np.where(np.isin(places, self.imported), np.array(ended, float), np.array(accepted, float))
            arrived[places < 0] = np.nan
            yield AcceptedResults(
                np.array(task, np.int32),
                np.array(seconds, np.float64),
                arrived,
                np.array([known[text] for text in source], np.int32),
                np.array(confirmed, np.bool_),
                places,
            )

    @property
    def further(self) -> tuple[int, float]:
        number, seconds = self.transaction.execute(_FURTHER, left_out=self.left_out).one()
        return number, seconds

    def spans(self) -> Iterator[Spans]:
        for rows in self.transaction.execute(_SPANS, left_out=self.left_out).partitions():
            worker, *columns = zip(*rows, strict=True)
            places = np.array([self.places[each] for each in worker], np.int32)
            # None becomes nan.
            granted, ended, began, computed = (np.array(column, np.float64) for column in columns)
            yield Spans.of(places, granted, ended, began, computed, self.now)
