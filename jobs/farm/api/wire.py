"""The messages between the task server and its workers: JSON, checked field by field.

The integers of results are decimal text: they exceed what readers of JSON keep exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from db import Credential, Delivery, Lease, Receipt, Standing
from db.files.fields import EQUIPMENT, LONGEST_HOST, LONGEST_TEXT, device_kind, equipment, or_none, problem
from db.files.fields import BadMessage as BadMessage
from db.files.fields import exactly as exactly
from db.files.fields import integer as integer
from db.files.fields import real as real
from db.files.fields import seconds as seconds
from db.files.fields import text as text
from db.states import Ending, EventKind
from jobs.run.identity import PROCESS, Identity
from langford.methods import LARGEST_SEED, PlanKey
from langford.result import BadText, Evaluation

LONGEST_NONCE = 64
MOST_AT_ONCE = 1_000
MOST_HELD = 100_000
LONGEST_HASH = 64
T = TypeVar("T")
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ACCEPTED = "accepted"
"""What a receipt says when it has no event."""


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


def address_document(info: CampaignInfo) -> dict[str, Any]:
    """What tells a campaign from every other one, as JSON."""
    return {
        "ledger": info.ledger,
        "campaign": info.uuid,
        "name": info.name,
        "problem": info.key.problem.name,
        "method": info.key.method,
        "depth": info.key.depth,
        "seed": info.key.seed,
    }


def info_document(info: CampaignInfo) -> dict[str, Any]:
    """The description of a campaign as JSON."""
    return {
        **address_document(info),
        "tasks": info.tasks,
        "work": info.work,
        "tasks_by_state": info.standing.tasks,
        "work_by_state": info.standing.work,
        "rechecks": info.standing.rechecks,
        "rechecking": info.standing.rechecking,
        "kernels": info.kernels,
    }


def info_of(document: Any) -> CampaignInfo:
    """The description of a campaign in a server's document; raises BadMessage or BadProblem."""
    identity = "ledger", "campaign", "name", "problem", "method", "depth", "seed", "kernels"
    numbers = "tasks", "work", "tasks_by_state", "work_by_state", "rechecks", "rechecking"
    try:
        fields = exactly(document, *identity, *numbers)
    except BadMessage as error:
        raise BadMessage(
            f"the server describes its campaign in another way ({error}): use the server's version of langford"
        ) from error
    key = PlanKey(
        problem(fields["problem"]),
        text(fields["method"]),
        integer(fields["depth"]),
        integer(fields["seed"], 0, LARGEST_SEED),
    )
    standing = Standing(
        by_state(fields["tasks_by_state"], integer),
        by_state(fields["work_by_state"], real),
        integer(fields["rechecks"]),
        integer(fields["rechecking"]),
    )
    return CampaignInfo(
        identifier(fields["ledger"]),
        identifier(fields["campaign"]),
        text(fields["name"]),
        key,
        integer(fields["tasks"]),
        real(fields["work"]),
        standing,
        text(fields["kernels"]),
    )


def identity_document(identity: Identity) -> dict[str, Any]:
    """A worker's identity as JSON."""
    return {
        "worker": identity.worker_id,
        "host": identity.host,
        "process": identity.process,
        "device_kind": identity.device_kind,
        "kernels": identity.kernels,
        **asdict(identity.equipment),
    }


def identity_of(document: Any) -> Identity:
    """The identity in a document; raises BadMessage."""
    names = "worker", "host", "process", "device_kind", "kernels"
    fields = exactly(document, *names, *EQUIPMENT)
    worker_id, host, process, kind, kernels = (text(fields[name]) for name in names)
    if len(host) > LONGEST_HOST or not host.isprintable():
        raise BadMessage(f"expected a host name of at most {LONGEST_HOST} printable characters")
    if not PROCESS.fullmatch(process):
        raise BadMessage("expected a process as number@start@boot")
    if len(kernels) > LONGEST_HASH or not kernels.isalnum():
        raise BadMessage(f"expected a hash of kernels of at most {LONGEST_HASH} letters and digits")
    return Identity(identifier(worker_id), host, process, device_kind(kind), kernels, equipment(fields))


def departure_of(document: Any) -> tuple[str, Ending]:
    """(worker, how its work ended) in a document; raises BadMessage."""
    fields = exactly(document, "worker", "ending")
    said = [ending for ending in Ending if ending is not Ending.LOST]
    if fields["ending"] not in said:
        raise BadMessage(f"expected that the work of a worker is {', '.join(said)}")
    return identifier(fields["worker"]), Ending(fields["ending"])


def credential_document(credential: Credential) -> dict[str, Any]:
    """What a worker shows for an attempt, as JSON."""
    return {"attempt": credential.attempt, "nonce": credential.nonce}


def credential_of(document: Any) -> Credential:
    """The credential in a document; raises BadMessage."""
    fields = exactly(document, "attempt", "nonce")
    return Credential(integer(fields["attempt"]), nonce(fields["nonce"]))


def delivery_document(delivery: Delivery) -> dict[str, Any]:
    """A delivery as JSON."""
    return {**credential_document(delivery), **delivery.evaluation.to_document()}


def delivery_of(document: Any, ahead: float = 0.0) -> Delivery:
    """The delivery in a document; raises BadMessage.

    ``ahead``: by how many seconds the clock of its worker is ahead of this one.
    """
    numbers = "index", "value", "residue", "evaluated", "seconds"
    fields = exactly(document, "attempt", "nonce", *numbers, "provenance", "began")
    checked = {
        **fields,
        "index": integer(fields["index"]),
        "seconds": seconds(fields["seconds"]),
        "provenance": text(fields["provenance"]),
        "began": or_none(fields["began"], lambda began: real(began) - ahead),
    }
    try:
        evaluation = Evaluation.from_document(checked)
    except BadText as error:
        raise BadMessage(str(error)) from error
    return Delivery(integer(fields["attempt"]), nonce(fields["nonce"]), evaluation)


def receipt_document(receipt: Receipt) -> dict[str, Any]:
    """What became of a delivery, as JSON."""
    return {"event": receipt.event or ACCEPTED, "detail": receipt.detail[:LONGEST_TEXT]}


def receipt_of(document: Any) -> Receipt:
    """The receipt in a document; raises BadMessage."""
    fields = exactly(document, "event", "detail")
    events = {ACCEPTED: None, **{event.value: event for event in EventKind}}
    if fields["event"] not in events:
        raise BadMessage(f"no result can be {fields['event']!r:.60}")
    return Receipt(events[fields["event"]], text(fields["detail"]))


def lease_document(lease: Lease) -> dict[str, Any]:
    """A lease as JSON."""
    return {**credential_document(lease), "index": lease.index, "work": lease.work, "copy": lease.is_copy}


def lease_of(document: Any) -> Lease:
    """The lease in a document; raises BadMessage."""
    fields = exactly(document, "attempt", "nonce", "index", "work", "copy")
    credential = integer(fields["attempt"]), nonce(fields["nonce"])
    return Lease(*credential, integer(fields["index"]), real(fields["work"]), fields["copy"] is True)


def pace_of(document: Any) -> float | None:
    """The pace in the answer to an enrolment; None when the server knows none.  Raises BadMessage."""
    value = exactly(document, "pace")["pace"]
    return None if value is None else real(value)


def steps_of(values: Any) -> dict[int, int]:
    """The steps of attempts, from pairs of both; raises BadMessage."""
    pairs = several(values)
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise BadMessage("expected pairs of an attempt and its steps")
    return {integer(attempt): integer(made) for attempt, made in pairs}


def nonce(value: Any) -> str:
    """A nonce, whether it is right or not; raises BadMessage."""
    if not isinstance(value, str) or len(value) > LONGEST_NONCE or not value.isascii():
        raise BadMessage(f"expected a nonce of at most {LONGEST_NONCE} characters")
    return value


def identifier(value: Any) -> str:
    """A UUID, which may become the name of a folder; raises BadMessage."""
    if not isinstance(value, str) or not UUID.fullmatch(value):
        raise BadMessage(f"expected a UUID, not {value!r:.60}")
    return value


def by_state(value: Any, number: Callable[[Any], T]) -> dict[str, T]:
    """A number for each state of tasks, each checked by ``number``; raises BadMessage."""
    if not isinstance(value, dict):
        raise BadMessage("expected an object with a number for each state")
    return {text(state): number(entry) for state, entry in value.items()}


def several(values: Any, most: int = MOST_AT_ONCE) -> list[Any]:
    """A list of at most ``most`` entries; raises BadMessage."""
    if not isinstance(values, list) or len(values) > most:
        raise BadMessage(f"expected a list of at most {most} entries")
    return values
