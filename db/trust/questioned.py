"""Results that the operator puts in question: they no longer count as votes, and wait to be evaluated again."""

from __future__ import annotations

import re
from collections.abc import Collection

from sqlalchemy import or_, select, update

from db.schema.dialects import Now, among
from db.schema.models import Attempt, Result, Witness, Worker
from db.states import EventKind
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import witnesses
from db.work import transitions
from langford.words import several

SHORT_NAME = re.compile("[0-9a-f]{8}[0-9a-f-]{0,27}")
"""The start of a worker's UUID, as tables show it."""


def question(
    transaction: Transaction, tasks: Collection[int] | None, worker: str | None, kernels: str | None
) -> list[int]:
    """See :meth:`db.Campaign.question`."""
    transitions.one_at_a_time(transaction)
    # Not by their outcome: an expired attempt may have delivered a late result.
    results = [
        Attempt.id.in_(select(table.attempt_id).where(table.campaign_id == CAMPAIGN)) for table in (Result, Witness)
    ]
    chosen = [Attempt.campaign_id == CAMPAIGN, or_(*results), Attempt.questioned.is_(None)]
    values: dict[str, object] = {}
    if tasks is not None:
        chosen.append(among(Attempt.task_index, "tasks"))
        values["tasks"] = sorted(tasks)
    if worker is not None:
        named = [Worker.id == worker, Worker.host == worker]
        if SHORT_NAME.fullmatch(worker):
            named.append(Worker.id.startswith(worker, autoescape=True))
        chosen.append(Attempt.worker_id.in_(select(Worker.id).where(or_(*named))))
    if kernels is not None:
        said = [
            Attempt.id.in_(
                select(table.attempt_id).where(
                    table.campaign_id == CAMPAIGN,
                    table.provenance.contains(f'"{kernels}"', autoescape=True),
                )
            )
            for table in (Result, Witness)
        ]
        enrolled = Attempt.worker_id.in_(select(Worker.id).where(Worker.kernels == kernels))
        chosen.append(or_(enrolled, *said))
    marked = update(Attempt).where(*chosen).values(questioned=Now()).returning(Attempt.task_index)
    questioned = sorted(set(transaction.scalars(marked, **values)))
    witnesses.settle(transaction, questioned)
    if questioned:
        detail = f"{several(len(questioned), 'task')} (first: {questioned[0]})"
        transitions.record(transaction, EventKind.QUESTIONED, None, None, detail)
    return questioned
