"""What workers and operators ask of a campaign through the task server: a message in, a message out, no HTTP.

Each operation takes a ledger, its campaign, the token of the request, and the request; it returns the answer.
"""

from __future__ import annotations

import time
from typing import Any

from db import Campaign, Ledger, Standing
from db.messages import BadMessage
from jobs.reach import wire
from jobs.reach.identity import Identity
from jobs.reach.wire import Description, ReceiptFields
from langford.errors import LangfordError
from langford.provenance import kernel_hash
from langford.words import several


class AnotherCampaign(LangfordError):
    """The worker has the plan and results of another campaign, which had this name before."""


def info(ledger: Ledger, campaign: Campaign, standing: Standing) -> wire.Description:
    address = ledger.uuid, campaign.uuid, campaign.name, campaign.key
    return Description.of(*address, campaign.tasks, campaign.work, standing, kernel_hash())


def enrol(ledger: Ledger, campaign: Campaign, token: str, identity: Identity) -> wire.Pace:
    ledger.enrol(*identity.enrolment, token, identity.equipment)
    return wire.Pace(pace=campaign.pace(identity.device_kind, token))


def leave(ledger: Ledger, campaign: Campaign, token: str, request: wire.Departure) -> wire.Done:
    ledger.leave(request.worker, request.known_ending, token)
    return wire.Done()


def lease(ledger: Ledger, campaign: Campaign, token: str, request: wire.LeaseRequest) -> wire.Leases:
    """Raises AnotherCampaign or TooManyLeases."""
    if request.campaign != campaign.uuid:
        # No lease is granted: this worker would leave at once, and its tasks would wait until their leases expire.
        raise AnotherCampaign(f"the campaign {campaign.name} is {campaign.uuid} here: start the worker again")
    leases = campaign.lease(request.worker, request.count, request.seconds, request.held, token, request.copies)
    return wire.Leases(leases=leases)


def renew(ledger: Ledger, campaign: Campaign, token: str, request: wire.Renewal) -> wire.Running:
    steps = dict(request.steps)
    return wire.Running(running=sorted(campaign.renew(request.attempts, request.seconds, steps, token)))


def release(ledger: Ledger, campaign: Campaign, token: str, request: wire.Release) -> wire.Done:
    campaign.release(request.attempts, request.known_outcome, request.note)
    return wire.Done()


def fail(ledger: Ledger, campaign: Campaign, token: str, request: wire.End) -> wire.SetAside:
    return wire.SetAside(set_aside=campaign.fail(request, request.reason))


def die(ledger: Ledger, campaign: Campaign, token: str, request: wire.End) -> wire.SetAside:
    return wire.SetAside(set_aside=campaign.die(request, request.reason))


def deliver(ledger: Ledger, campaign: Campaign, token: str, request: wire.Results) -> wire.Receipts:
    ahead = request.now - time.time()
    deliveries = [delivery.dated(ahead) for delivery in request.deliveries]
    if any(delivery.index >= campaign.tasks for delivery in deliveries):
        raise BadMessage(f"the campaign has only {several(campaign.tasks, 'task')}")
    receipts = campaign.deliver(deliveries, token)
    return wire.Receipts(receipts=[ReceiptFields.of_receipt(receipt) for receipt in receipts])


def retry(ledger: Ledger, campaign: Campaign, token: str, request: dict[str, Any]) -> wire.Reopened:
    """The request has no content that matters."""
    return wire.Reopened(reopened=campaign.reopen())
