"""An attempt as its worker knows it: records that are also the messages between a worker and a task server."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import cached_property
from typing import Annotated, Literal, Self

from msgspec import Meta
from msgspec.structs import replace

from db.messages import ASCII, MAX_TEXT, Count, Digits, Message, Moment, Natural, Real, Seconds, Text, measurable
from db.states import EventKind
from langford.result import Evaluation, PartialResult

Nonce = Annotated[str, Meta(max_length=64, pattern=ASCII)]
"""A random text that only the holder of a lease knows."""


def fresh_nonce() -> str:
    return secrets.token_urlsafe(16)


def digest(nonce: str) -> str:
    """What the ledger keeps of a nonce: its SHA-256."""
    return hashlib.sha256(nonce.encode()).hexdigest()


class Credential(Message, frozen=True):
    """What a worker must show to change an attempt: only the nonce proves that the attempt is its own."""

    attempt: Count
    nonce: Nonce

    @property
    def digest(self) -> str:
        return digest(self.nonce)

    def is_genuine(self, kept: str | None) -> bool:
        """Whether the nonce has the digest that the ledger keeps, compared in constant time."""
        return kept is not None and hmac.compare_digest(self.digest, kept)


class Lease(Credential, frozen=True, rename={"is_copy": "copy"}):
    """The right to work on a task until the deadline, unless renewed."""

    index: Count
    work: Real
    is_copy: bool  # whether another worker was granted the same task earlier and still holds it


class Delivery(Credential, frozen=True, dict=True):
    """An evaluation that a worker delivers for an attempt, see :class:`langford.result.Evaluation`."""

    index: Count
    value: Digits
    residue: Digits
    evaluated: Natural
    seconds: Seconds
    provenance: Text
    began: Moment | None

    @classmethod
    def of(cls, shown: Credential, evaluation: Evaluation) -> Self:
        made = cls(shown.attempt, shown.nonce, **evaluation.to_document())
        if evaluation.seconds == measurable(evaluation.seconds):
            made.__dict__["evaluation"] = evaluation  # which need not be read from its text again
        return made

    @cached_property
    def evaluation(self) -> Evaluation:
        result = PartialResult.from_text(self.index, self.value, self.residue, self.evaluated)
        return Evaluation(result, measurable(self.seconds), self.provenance, self.began)

    def dated(self, ahead: float) -> Self:
        """By the clock of this machine, when that of the worker is ``ahead`` seconds ahead of it."""
        return self if self.began is None else replace(self, began=self.began - ahead)


class Receipt(Message, frozen=True, rename={"verdict": "event"}):
    """What became of a delivery, see :meth:`db.WorkerCampaign.deliver`."""

    verdict: Literal["accepted", "confirmed", "conflict", "refused"]
    detail: Text  # the values that were compared, or the reason for the refusal

    @classmethod
    def of(cls, event: EventKind | None, detail: str = "") -> Self:
        return cls("accepted" if event is None else event.value, detail[:MAX_TEXT])  # type: ignore[arg-type]

    @property
    def event(self) -> EventKind | None:
        """None: the result is the accepted one, from now on or already."""
        return None if self.verdict == "accepted" else EventKind(self.verdict)
