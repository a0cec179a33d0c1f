"""The messages between the task server and its workers: JSON, checked field by field.

The integers of results are decimal text: they exceed what readers of JSON keep exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from db import Delivery, Lease, Standing
from db.fields import LONGEST_TEXT, problem
from db.fields import BadMessage as BadMessage
from db.fields import exactly as exactly
from db.fields import integer as integer
from db.fields import real as real
from db.fields import text as text
from jobs.identity import PROCESS, Identity
from langford.devices import KINDS
from langford.methods import PlanKey
from langford.result import BadText, Evaluation

MOST_AT_ONCE = 1_000
WORKER = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LONGEST_HOST = 255
T = TypeVar("T")


@dataclass(frozen=True)
class CampaignInfo:
    """A campaign as a server describes it to its workers.

    Attributes:
        name: of the campaign.
        key: its plan.
        tasks: number of tasks.
        work: estimated work of all tasks, in the method's unit.
        standing: tasks and work by state.
        rechecks: number of results that wait for another worker to evaluate them again.
    """

    name: str
    key: PlanKey
    tasks: int
    work: float
    standing: Standing
    rechecks: int


def info_document(info: CampaignInfo) -> dict[str, Any]:
    """The description of a campaign as JSON."""
    return {
        "name": info.name,
        "problem": info.key.problem.name,
        "method": info.key.method,
        "depth": info.key.depth,
        "tasks": info.tasks,
        "work": info.work,
        "tasks_by_state": info.standing.tasks,
        "work_by_state": info.standing.work,
        "rechecks": info.rechecks,
    }


def info_of(document: Any) -> CampaignInfo:
    """The description of a campaign in a server's document; raises BadMessage or BadProblem."""
    names = "name", "problem", "method", "depth", "tasks", "work", "tasks_by_state", "work_by_state", "rechecks"
    try:
        fields = exactly(document, *names)
    except BadMessage as error:
        raise BadMessage(
            f"the server describes its campaign in another way ({error}): use the server's version of langford"
        ) from error
    key = PlanKey(problem(fields["problem"]), text(fields["method"]), integer(fields["depth"]))
    standing = Standing(by_state(fields["tasks_by_state"], integer), by_state(fields["work_by_state"], real))
    return CampaignInfo(
        text(fields["name"]),
        key,
        integer(fields["tasks"]),
        real(fields["work"]),
        standing,
        integer(fields["rechecks"]),
    )


def identity_document(identity: Identity) -> dict[str, Any]:
    """A worker's identity as JSON."""
    return {
        "worker": identity.worker_id,
        "host": identity.host,
        "process": identity.process,
        "device_kind": identity.device_kind,
    }


def identity_of(document: Any) -> Identity:
    """The identity in a document; raises BadMessage."""
    names = "worker", "host", "process", "device_kind"
    fields = exactly(document, *names)
    worker_id, host, process, device_kind = (text(fields[name]) for name in names)
    if not WORKER.fullmatch(worker_id):
        raise BadMessage("expected a worker with a UUID in small letters")
    if len(host) > LONGEST_HOST or not host.isprintable():
        raise BadMessage(f"expected a host name of at most {LONGEST_HOST} printable characters")
    if not PROCESS.fullmatch(process):
        raise BadMessage("expected a process as number@start@boot")
    if device_kind not in KINDS:
        raise BadMessage(f"expected a device of kind {' or '.join(KINDS)}")
    return Identity(worker_id, host, process, device_kind)


def delivery_document(delivery: Delivery) -> dict[str, Any]:
    """A delivery as JSON."""
    return {"attempt": delivery.attempt, **delivery.evaluation.to_document()}


def delivery_of(document: Any) -> Delivery:
    """The delivery in a document; raises BadMessage."""
    fields = exactly(document, "attempt", "index", "value", "residue", "evaluated", "seconds", "provenance")
    index = fields["index"]
    if isinstance(index, str) and index.isascii() and index.isdecimal():
        index = int(index[:LONGEST_TEXT])  # outboxes of version 0.1 have the index as text
    checked = {
        **fields,
        "index": integer(index),
        "seconds": real(fields["seconds"]),
        "provenance": text(fields["provenance"]),
    }
    try:
        return Delivery(integer(fields["attempt"]), Evaluation.from_document(checked))
    except BadText as error:
        raise BadMessage(str(error)) from error


def lease_of(document: Any) -> Lease:
    """The lease in a document; raises BadMessage."""
    fields = exactly(document, "attempt", "index", "work")
    return Lease(integer(fields["attempt"]), integer(fields["index"]), real(fields["work"]))


def by_state(value: Any, number: Callable[[Any], T]) -> dict[str, T]:
    """A number for each state of tasks, each checked by ``number``; raises BadMessage."""
    if not isinstance(value, dict):
        raise BadMessage("expected an object with a number for each state")
    return {text(state): number(entry) for state, entry in value.items()}


def several(values: Any) -> list[Any]:
    """A list of at most MOST_AT_ONCE entries; raises BadMessage."""
    if not isinstance(values, list) or len(values) > MOST_AT_ONCE:
        raise BadMessage(f"expected a list of at most {MOST_AT_ONCE} entries")
    return values
