"""What several messages between the task server and its workers have in common; see :mod:`jobs.reach.wire`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

from msgspec import Meta

from db import Credential, Delivery, Lease, Receipt, Standing
from db.files.messages import (
    ASCII,
    LONGEST_TEXT,
    BadMessage,
    Count,
    Digits,
    Message,
    ProblemName,
    Real,
    Seconds,
    Text,
    Uuid,
    measurable,
)
from db.states import EventKind
from langford.methods import LARGEST_SEED, PlanKey
from langford.result import BadText, Evaluation, PartialResult

ACCEPTED = "accepted"
"""What a receipt says when it has no event."""
Nonce = Annotated[str, Meta(max_length=64, pattern=ASCII)]


@dataclass(frozen=True)
class CampaignInfo:
    """A campaign as a server describes it to its workers.

    Attributes:
        ledger: UUID of the ledger.
        uuid: of the campaign.
        name: of the campaign.
        key: its plan.
        tasks: number of tasks.
        work: estimated work of all tasks, in the method's unit.
        standing: what is left to do.
        kernels: hash of the server's code that computes, see :func:`langford.provenance.kernel_hash`.
    """

    ledger: str
    uuid: str
    name: str
    key: PlanKey
    tasks: int
    work: float
    standing: Standing
    kernels: str

    @property
    def address(self) -> dict[str, Any]:
        """What distinguishes it from every other campaign, as the fields of :class:`Address`."""
        key = self.key
        plan = {"problem": key.problem.name, "method": key.method, "depth": key.depth, "seed": key.seed}
        return {"ledger": self.ledger, "campaign": self.uuid, "name": self.name, **plan}


class CredentialFields(Message, frozen=True, kw_only=True):
    """What a worker shows for an attempt, see :class:`db.Credential`."""

    attempt: Count
    nonce: Nonce

    @classmethod
    def of_credential(cls, credential: Credential) -> Self:
        """The message about a credential."""
        return cls(attempt=credential.attempt, nonce=credential.nonce)

    @property
    def credential(self) -> Credential:
        """The inverse of :meth:`of_credential`."""
        return Credential(self.attempt, self.nonce)


class LeaseFields(CredentialFields, frozen=True, kw_only=True):
    """A lease; ``copy``: whether another worker holds the task too."""

    index: Count
    work: Real
    copy: bool

    @classmethod
    def of_lease(cls, lease: Lease) -> Self:
        """The message about a lease."""
        attempt, nonce = lease.attempt, lease.nonce
        return cls(attempt=attempt, nonce=nonce, index=lease.index, work=lease.work, copy=lease.is_copy)

    @property
    def lease(self) -> Lease:
        """The inverse of :meth:`of_lease`."""
        return Lease(self.attempt, self.nonce, self.index, self.work, self.copy)


class DeliveryFields(CredentialFields, frozen=True, kw_only=True):
    """A result with its history, see :class:`langford.result.Evaluation`."""

    index: Count
    value: Digits
    residue: Digits
    evaluated: Digits
    seconds: Seconds
    provenance: Text
    began: Real | None

    @classmethod
    def of_delivery(cls, delivery: Delivery) -> Self:
        """The message about a delivery."""
        return cls(attempt=delivery.attempt, nonce=delivery.nonce, **delivery.evaluation.to_document())

    def delivery(self, ahead: float = 0.0) -> Delivery:
        """The inverse of :meth:`of_delivery`; raises BadMessage.

        ``ahead``: by how many seconds the clock of its worker is ahead of this one.
        """
        try:
            result = PartialResult.from_text(self.index, self.value, self.residue, self.evaluated)
        except BadText as error:
            raise BadMessage(str(error)) from error
        began = None if self.began is None else self.began - ahead
        return Delivery(
            self.attempt, self.nonce, Evaluation(result, measurable(self.seconds), self.provenance, began)
        )


class ReceiptFields(Message, frozen=True, kw_only=True):
    """What became of a delivery; ``event``: a kind of event, or ACCEPTED."""

    event: Text
    detail: Text

    @classmethod
    def of_receipt(cls, receipt: Receipt) -> Self:
        """The message about a receipt."""
        return cls(event=receipt.event or ACCEPTED, detail=receipt.detail[:LONGEST_TEXT])

    @property
    def receipt(self) -> Receipt:
        """The inverse of :meth:`of_receipt`; raises BadMessage."""
        events = {ACCEPTED: None, **{event.value: event for event in EventKind}}
        if self.event not in events:
            raise BadMessage(f"event: no result can be {self.event!r:.60}")
        return Receipt(events[self.event], self.detail)


class Address(Message, frozen=True, kw_only=True):
    """What distinguishes a campaign from every other one."""

    ledger: Uuid
    campaign: Uuid
    name: Text
    problem: ProblemName
    method: Text
    depth: Count
    seed: Annotated[int, Meta(ge=0, le=LARGEST_SEED)]
