"""What workers and operators ask of a campaign through the task server: JSON in, JSON out, no HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from db import Campaign, Credential, Ledger, Standing
from db.states import Outcome
from jobs.farm.api import wire
from jobs.farm.api.wire import BadMessage
from langford.provenance import kernel_hash

LONGEST_LEASE = 24 * 3600

Operation = Callable[[Ledger, Campaign, str, Any], dict[str, Any]]
"""Of a ledger, its campaign, the token shown with the request, and the request's body."""


class AnotherCampaign(Exception):
    """The worker holds plans and results of another campaign, which had this name before."""


def info(ledger: Ledger, campaign: Campaign, standing: Standing) -> dict[str, Any]:
    """The campaign, and how far it is."""
    return wire.info_document(
        wire.CampaignInfo(
            ledger.uuid,
            campaign.uuid,
            campaign.name,
            campaign.key,
            campaign.tasks,
            campaign.work,
            standing,
            kernel_hash(),
        )
    )


def enrol(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    """Register a worker."""
    identity = wire.identity_of(document)
    ledger.enrol(*identity.enrolment, token, identity.equipment)
    return {"pace": campaign.pace(identity.device_kind)}


def leave(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    """Note that a worker ends."""
    ledger.leave(*wire.departure_of(document), token)
    return {}


def lease(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    """Lease tasks; raises AnotherCampaign."""
    fields = wire.exactly(document, "campaign", "worker", "count", "seconds", "held", "copies")
    if wire.identifier(fields["campaign"]) != campaign.uuid:
        # Nothing is granted: this worker would leave at once, and the tasks would wait for the end of its leases.
        raise AnotherCampaign(f"the campaign {campaign.name} is {campaign.uuid} here: start the worker again")
    worker_id, seconds = wire.text(fields["worker"]), _seconds(fields["seconds"])
    count = wire.integer(fields["count"], 1, wire.MOST_AT_ONCE)
    held = [wire.integer(attempt) for attempt in wire.several(fields["held"], wire.MOST_HELD)]
    leases = campaign.lease(worker_id, count, seconds, held, token, wire.integer(fields["copies"]))
    return {"leases": [wire.lease_document(lease) for lease in leases]}


def renew(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    """Move deadlines."""
    fields = wire.exactly(document, "attempts", "seconds", "steps")
    credentials, steps = _credentials(fields), wire.steps_of(fields["steps"])
    return {"running": sorted(campaign.renew(credentials, _seconds(fields["seconds"]), steps))}


def release(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    """Take tasks back."""
    fields = wire.exactly(document, "attempts", "outcome", "note")
    if fields["outcome"] not in (Outcome.RELEASED, Outcome.PREEMPTED):
        raise BadMessage("an attempt is given back as released or preempted")
    campaign.release(_credentials(fields), Outcome(fields["outcome"]), wire.text(fields["note"]))
    return {}


def fail(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    """Note that a task failed."""
    return {"set_aside": campaign.fail(*_end_of(document))}


def die(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    """Note that a process died."""
    return {"set_aside": campaign.die(*_end_of(document))}


def _end_of(document: Any) -> tuple[Credential, str]:
    """Which attempt has ended, and why."""
    fields = wire.exactly(document, "attempt", "nonce", "reason")
    credential = wire.credential_of({name: fields[name] for name in ("attempt", "nonce")})
    return credential, wire.text(fields["reason"])


def deliver(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    """Take results."""
    fields = wire.exactly(document, "deliveries", "now")
    ahead = wire.real(fields["now"]) - time.time()
    deliveries = [wire.delivery_of(delivery, ahead) for delivery in wire.several(fields["deliveries"])]
    if any(delivery.evaluation.result.index >= campaign.tasks for delivery in deliveries):
        raise BadMessage(f"the campaign has only {campaign.tasks} tasks")
    return {"receipts": [wire.receipt_document(receipt) for receipt in campaign.deliver(deliveries)]}


def retry(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    """Put tasks that were set aside back."""
    return {"reopened": campaign.reopen()}


def _seconds(value: Any) -> float:
    return min(wire.real(value), LONGEST_LEASE)


def _credentials(fields: dict[str, Any]) -> list[Credential]:
    return [wire.credential_of(document) for document in wire.several(fields["attempts"])]
