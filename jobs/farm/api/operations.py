"""What workers and operators ask of a campaign through the task server: a message in, a message out, no HTTP.

The campaign is reached with the token of the request.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from db.messages import BadMessage
from jobs.reach import wire
from jobs.reach.identity import Identity
from jobs.reach.in_ledger import InLedger
from langford.errors import LangfordError
from langford.words import several


class AnotherCampaign(LangfordError):
    """The worker has the plan and results of another campaign, which had this name before."""


def enrol(campaign: InLedger, request: Identity) -> wire.Pace:
    return wire.Pace(pace=campaign.enrol(request))


def leave(campaign: InLedger, request: wire.Departure) -> wire.Done:
    campaign.leave(request.worker, request.ending)
    return wire.Done()


def lease(campaign: InLedger, request: wire.LeaseRequest) -> wire.Leases:
    """Raises AnotherCampaign or TooManyLeases."""
    uuid = campaign.campaign.uuid
    if request.campaign != uuid:
        # No lease is granted: this worker would leave at once, and its tasks would wait until their leases expire.
        raise AnotherCampaign(f"the campaign {campaign.name} is {uuid} here: start the worker again")
    leases = campaign.lease(request.worker, request.count, request.seconds, request.held, request.copies)
    return wire.Leases(leases=leases)


def renew(campaign: InLedger, request: wire.Renewal) -> wire.Running:
    running = campaign.renew(request.attempts, request.seconds, dict(request.steps))
    return wire.Running(running=sorted(running))


def release(campaign: InLedger, request: wire.Release) -> wire.Done:
    campaign.release(request.attempts, request.outcome, request.note)
    return wire.Done()


def fail(campaign: InLedger, request: wire.End) -> wire.SetAside:
    return wire.SetAside(set_aside=campaign.fail(request, request.reason))


def die(campaign: InLedger, request: wire.End) -> wire.SetAside:
    return wire.SetAside(set_aside=campaign.die(request, request.reason))


def deliver(campaign: InLedger, request: wire.Results) -> wire.Receipts:
    ahead, tasks = request.now - time.time(), campaign.campaign.tasks
    deliveries = [delivery.dated(ahead) for delivery in request.deliveries]
    if any(delivery.index >= tasks for delivery in deliveries):
        raise BadMessage(f"the campaign has only {several(tasks, 'task')}")
    return wire.Receipts(receipts=campaign.deliver(deliveries))


def retry(campaign: InLedger, request: dict[str, Any]) -> wire.Reopened:
    """Make tasks that were set aside ready again; the request says nothing that matters."""
    return wire.Reopened(reopened=campaign.campaign.reopen())


ANSWERS: Mapping[wire.Operation[Any, Any], Callable[[InLedger, Any], Struct]] = MappingProxyType(
    {
        wire.ENROL: enrol,
        wire.LEAVE: leave,
        wire.LEASE: lease,
        wire.RENEW: renew,
        wire.RELEASE: release,
        wire.FAIL: fail,
        wire.DIE: die,
        wire.DELIVER: deliver,
        wire.RETRY: retry,
    }
)
"""What answers each operation."""
