"""What answers each operation on a campaign, except renewals: a message in, a message out, no HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from db import Delivery, WorkerCampaign
from db.messages import BadMessage
from jobs.farm.guard import bodies
from jobs.farm.guard.bodies import Bounds
from jobs.farm.guard.shares import Rank
from jobs.reach import wire
from jobs.reach.wire import A, Operation, Q
from langford.errors import LangfordError
from langford.words import several


class AnotherCampaign(LangfordError):
    """The worker has the plan and results of another campaign, which had this name before."""


def lease(workers: WorkerCampaign, request: wire.LeaseRequest) -> wire.Leases:
    """Raises AnotherCampaign or TooManyLeases."""
    _require_same(workers, request)
    leases = workers.lease(request.worker, request.count, request.seconds, request.held, request.copies)
    return wire.Leases(leases=leases)


def enrol(workers: WorkerCampaign, request: wire.Newcomer) -> wire.Enrolled:
    """Raises AnotherCampaign, TooManyWorkers or TooManyLeases."""
    asked = request.lease
    _require_same(workers, asked)
    pace, leases = workers.enrol(request.worker, asked.count, asked.seconds, asked.held, asked.copies)
    return wire.Enrolled(pace=pace, leases=leases)


def _require_same(workers: WorkerCampaign, request: wire.LeaseRequest) -> None:
    """Raises AnotherCampaign."""
    if request.campaign != workers.campaign.uuid:
        # No lease is granted: this worker would leave at once, and its tasks would wait until their leases expire.
        raise AnotherCampaign(
            f"the campaign {workers.name} is {workers.campaign.uuid} here: start the worker again"
        )


def end(workers: WorkerCampaign, request: wire.End) -> wire.SetAside:
    set_aside = workers.end(request.attempts, request.outcome, request.note, dict(request.computed))
    return wire.SetAside(set_aside=sorted(set_aside))


def deliver(workers: WorkerCampaign, request: wire.Results) -> wire.Receipts:
    return wire.Receipts(receipts=workers.deliver(_dated(workers, request)))


def _dated(workers: WorkerCampaign, request: wire.Results) -> list[Delivery]:
    """Results by the clock of this machine; raises BadMessage."""
    ahead, tasks = request.now - time.time(), workers.campaign.tasks
    if any(delivery.index >= tasks for delivery in request.deliveries):
        raise BadMessage(f"the campaign has only {several(tasks, 'task')}")
    return [delivery.dated(ahead) for delivery in request.deliveries]


def exchange(workers: WorkerCampaign, request: wire.Exchange) -> wire.Exchanged:
    """Raises as :func:`lease`, when the results have been taken: whoever repeats the request loses nothing."""
    asked, deliveries = request.lease, _dated(workers, request.results)
    try:
        _require_same(workers, asked)
    except AnotherCampaign:
        workers.deliver(deliveries)
        raise
    wanted = asked.worker, asked.count, asked.seconds, asked.held, asked.copies
    receipts, leases = workers.exchange(deliveries, *wanted)
    return wire.Exchanged(receipts=receipts, leases=leases)


@dataclass(frozen=True)
class Answered(Generic[Q, A]):
    """An operation, what answers it, and bounds on its requests."""

    operation: Operation[Q, A]
    # The campaign is reached with the token of the request; None: there is nothing to say
    answer: Callable[[WorkerCampaign, Q], A | None]
    bounds: Bounds = bodies.MESSAGE
    rank: Rank = Rank.RUNNING


ANSWERED = (
    # Those that come most often are found first.
    Answered(wire.EXCHANGE, exchange, bodies.RESULTS, Rank.TASKS),
    Answered(wire.LEASE, lease, bodies.HELD, Rank.TASKS),
    Answered(wire.DELIVER, deliver, bodies.RESULTS, Rank.TASKS),
    Answered(wire.ENROL, enrol, bodies.HELD, Rank.WORKERS),
    Answered(wire.LEAVE, lambda workers, asked: workers.leave(asked.worker, asked.ending)),
    Answered(wire.END, end, bodies.ATTEMPTS),
    Answered(wire.RETRY, lambda workers, _: wire.Reopened(reopened=workers.operator.reopen()), rank=Rank.OTHERS),
)
RANKS = {wire.RENEW.path: Rank.RUNNING, **{answered.operation.path: answered.rank for answered in ANSWERED}}
"""What goes first, by the last part of a path; the others are for readers."""
